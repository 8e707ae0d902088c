import CJPEG
import CPixels
import EideticCore

/// JPEG by libjpeg-turbo: baseline, progressive, arithmetic; grey, YCbCr, RGB, CMYK and YCCK.
///
/// The lossless process by code of our own.
enum JPEGCodec: ImageCodec {
    static let formats: [ImageFormat] = [.jpeg]

    /// Rows between two questions whether to go on.
    private static let batch = 32

    static func header(
        _ bytes: UnsafeRawBufferPointer,
        isComplete: Bool,
        format: ImageFormat
    ) throws(EideticError) -> ImageHeader? {
        let segments = try JPEGSegments(bytes)
        guard segments.isComplete else {
            guard isComplete else { return nil }
            throw EideticError(.truncated, "JPEG: ends after \(bytes.count) bytes, before the first scan")
        }
        guard let size = segments.size else { throw EideticError(.corrupt, "JPEG: a scan before any frame header") }
        return ImageHeader(format: .jpeg, size: size, orientation: segments.orientation)
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, _ task: DecodeTask) throws(EideticError) -> CodecPicture {
        let segments = try JPEGSegments(bytes)
        if segments.isLossless {
            var picture = try LosslessJPEG.decode(bytes, task)
            picture.iccProfile = segments.iccProfile
            return picture
        }
        let decoder = try JPEGDecoder(bytes)
        try decoder.readHeader(eighths: eighths(task))
        guard decoder.storedSize == task.header.size else {
            throw EideticError(.corrupt, "JPEG: two sizes, \(task.header.size) and \(decoder.storedSize)")
        }
        while try decoder.absorb() { try task.checkpoint() }
        try decoder.start()
        let pixels = try PixelBuffer(size: decoder.outputSize, alpha: .opaque) { memory, stride throws(EideticError) in
            try readRows(decoder, memory, stride, task)
            if decoder.model == EIDETIC_JPEG_INVERTED_CMYK {
                eidetic_pixels_invert(memory.assumingMemoryBound(to: UInt8.self).baseAddress, memory.count)
            }
        }
        let damage = decoder.damage
        if let damage, !task.acceptsPartial { throw damage }
        return CodecPicture(
            pixels,
            iccProfile: segments.iccProfile,
            colorModel: decoder.model == EIDETIC_JPEG_RGBA ? .rgb : .cmyk,
            isPartial: damage != nil
        )
    }

    /// The rows at the scale that is asked for; for a picture with several scans all its coefficients as well.
    static func workingMemory(_ bytes: UnsafeRawBufferPointer, _ task: DecodeTask) -> Int {
        let eighths = eighths(task), coefficients = (try? JPEGSegments(bytes))?.coefficientsPerPixel ?? 0
        return task.header.size.pixelCount * (2 * coefficients + 4 * eighths * eighths / 64)
    }

    /// The scale of the inverse cosine transform: the smallest that still has twice the wanted size in both directions.
    ///
    /// Halving what is left with a good filter costs little; at less than twice the size the transform's own, square
    /// filter would be seen (40 dB instead of 50).
    static func eighths(_ task: DecodeTask) -> Int {
        let size = task.header.size, wanted = task.wanted
        return [1, 2, 4].first { size.width * $0 >= 16 * wanted.width && size.height * $0 >= 16 * wanted.height } ?? 8
    }

    private static func readRows(
        _ decoder: borrowing JPEGDecoder,
        _ memory: UnsafeMutableRawBufferPointer,
        _ stride: Int,
        _ task: DecodeTask
    ) throws(EideticError) {
        guard let base = memory.baseAddress else { return }
        var row = 0
        let height = decoder.outputSize.height
        while row < height {
            try task.checkpoint()
            row += try decoder.readRows(base + row * stride, stride, min(batch, height - row))
        }
    }
}
