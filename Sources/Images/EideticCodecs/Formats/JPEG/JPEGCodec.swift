import CJPEG
import CPixels
import EideticCore

/// JPEG by libjpeg-turbo: baseline, progressive and arithmetic coding; grey, YCbCr, RGB, CMYK and YCCK.
///
/// The lossless process is not supported; libjpeg-turbo has it from version 3 on.
enum JPEGCodec: ImageCodec {
    static let formats: [ImageFormat] = [.jpeg]

    /// The number of rows between two checkpoints.
    private static let rowsPerCheckpoint = 32

    static func header(
        of bytes: UnsafeRawBufferPointer,
        isComplete: Bool,
        format: ImageFormat
    ) throws(EideticError) -> ImageHeader? {
        let segments = try JPEGSegments(bytes)
        guard segments.isHeaderComplete else {
            guard isComplete else { return nil }
            throw EideticError(
                .truncated,
                message: "JPEG: the file ends after \(bytes.count) bytes, before the first scan"
            )
        }
        guard let size = segments.size else {
            throw EideticError(.corrupt, message: "JPEG: the first scan precedes the frame header")
        }
        return ImageHeader(format: .jpeg, size: size, orientation: segments.orientation)
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        let segments = try JPEGSegments(bytes)
        guard !segments.isLossless else {
            throw EideticError(.unsupportedFormat, message: "JPEG: lossless JPEG is not supported")
        }
        let decoder = try JPEGDecoder(bytes)
        try decoder.readHeader(scaleNumerator: scaleNumerator(for: task))
        guard decoder.storedSize == task.header.size else {
            throw EideticError(
                .corrupt,
                message: "JPEG: the file declares two sizes, \(task.header.size) and \(decoder.storedSize)"
            )
        }
        while try decoder.consumeInput() { try task.checkpoint() }
        try decoder.startOutput()
        let pixels = try PixelBuffer(size: decoder.outputSize, alpha: .opaque) { memory, stride throws(EideticError) in
            try readRows(from: decoder, into: memory, stride: stride, for: task)
            if decoder.outputModel == EIDETIC_JPEG_CMYK {
                eidetic_pixels_invert(memory.assumingMemoryBound(to: UInt8.self).baseAddress, memory.count)
            }
        }
        let damage = decoder.damage
        if let damage, !task.acceptsPartial { throw damage }
        return DecodedPixels(
            pixels,
            colourSpace: segments.iccProfile.map(ColourSpace.profile),
            colorModel: decoder.outputModel == EIDETIC_JPEG_RGBA ? .rgb : .cmyk,
            isPartial: damage != nil
        )
    }

    /// The rows at the scale of the inverse transform; for an image with several scans, also all its coefficients.
    static func workingMemory(decoding bytes: UnsafeRawBufferPointer, for task: DecodeTask) -> Int {
        let scaleNumerator = scaleNumerator(for: task),
            coefficients = (try? JPEGSegments(bytes))?.coefficientsPerPixel ?? 0
        return task.header.size.pixelCount * (2 * coefficients + 4 * scaleNumerator * scaleNumerator / 64)
    }

    static func decodedSize(for task: DecodeTask) -> PixelSize {
        let size = task.header.size, scale = scaleNumerator(for: task)
        return PixelSize(width: (size.width * scale + 7) / 8, height: (size.height * scale + 7) / 8)
    }

    /// Returns the scale of the inverse cosine transform in eighths: the smallest with twice the target size in both
    /// directions.
    ///
    /// A high-quality filter halves the rest at little cost. Below twice the target size the box filter of the
    /// transform becomes visible (40 dB instead of 50).
    static func scaleNumerator(for task: DecodeTask) -> Int {
        let size = task.header.size, targetSize = task.targetSize
        return [1, 2, 4].first {
            size.width * $0 >= 16 * targetSize.width && size.height * $0 >= 16 * targetSize.height
        } ?? 8
    }

    private static func readRows(
        from decoder: borrowing JPEGDecoder,
        into memory: UnsafeMutableRawBufferPointer,
        stride: Int,
        for task: DecodeTask
    ) throws(EideticError) {
        guard let base = memory.baseAddress else { return }
        var row = 0
        let height = decoder.outputSize.height
        while row < height {
            try task.checkpoint()
            row += try decoder.readRows(
                into: base + row * stride,
                bytesPerRow: stride,
                count: min(rowsPerCheckpoint, height - row)
            )
        }
    }
}
