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

    static func header(of input: ReceivedBytes) throws(EideticError) -> ImageHeader? {
        let segments = try JPEGSegments(input.bytes)
        guard segments.isHeaderComplete else {
            guard input.isComplete else { return nil }
            throw EideticError(
                .truncated,
                message: "JPEG: the file ends after \(input.bytes.count) bytes, before the first scan"
            )
        }
        guard let size = segments.size else {
            throw EideticError(.corrupt, message: "JPEG: the first scan precedes the frame header")
        }
        return ImageHeader(format: .jpeg, size: size, orientation: segments.orientation)
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        let decoded = try decode(bytes, showsMissingRows: false, for: task)
        guard decoded.isPartial, decoded.colorModel == .rgb else { return decoded }
        return try decode(bytes, showsMissingRows: true, for: task)
    }

    /// Decodes an image; with `showsMissingRows`, those behind the end of a truncated file are transparent.
    private static func decode(
        _ bytes: UnsafeRawBufferPointer,
        showsMissingRows: Bool,
        for task: DecodeTask
    ) throws(EideticError) -> DecodedPixels {
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
        // The scans of a progressive image all have all rows.
        let hasAlpha = showsMissingRows && segments.coefficientsPerPixel == 0
        let size = decoder.outputSize
        let pixels = try PixelBuffer(size: size, alpha: hasAlpha ? .straight : .opaque) {
            memory,
            stride throws(EideticError) in
            let rows = try readRows(from: decoder, into: memory, stride: stride, stopsAtEnd: hasAlpha, for: task)
            if rows < size.height {
                let rest = UnsafeMutableRawBufferPointer(rebasing: memory[(rows * stride)...])
                rest.initializeMemory(as: UInt8.self, repeating: 0)
            }
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
        let size = task.header.size
        let scale = scaleNumerator(for: task)
        return PixelSize(width: (size.width * scale + 7) / 8, height: (size.height * scale + 7) / 8)
    }

    /// Returns the scale of the inverse cosine transform in eighths: the smallest with twice the target size in both
    /// directions.
    ///
    /// A high-quality filter halves the rest at little cost. Below twice the target size the box filter of the
    /// transform becomes visible (40 dB instead of 50).
    static func scaleNumerator(for task: DecodeTask) -> Int {
        let size = task.header.size
        let targetSize = task.targetSize
        return [1, 2, 4].first {
            size.width * $0 >= 16 * targetSize.width && size.height * $0 >= 16 * targetSize.height
        } ?? 8
    }

    /// Reads all rows, or with `stopsAtEnd` those before the end of a file that is truncated.
    private static func readRows(
        from decoder: borrowing JPEGDecoder,
        into memory: UnsafeMutableRawBufferPointer,
        stride: Int,
        stopsAtEnd: Bool,
        for task: DecodeTask
    ) throws(EideticError) -> Int {
        guard let base = memory.baseAddress else { return 0 }
        var row = 0
        let height = decoder.outputSize.height
        while row < height {
            try task.checkpoint()
            let count = try decoder.readRows(
                into: base + row * stride,
                bytesPerRow: stride,
                count: stopsAtEnd ? 1 : min(rowsPerCheckpoint, height - row)
            )
            if stopsAtEnd, decoder.isTruncated { return row }
            row += count
        }
        return row
    }
}
