import CPNG
import EideticCore

/// PNG by libpng, tagged as sRGB: a palette for at most 256 colours, one channel for grey, else 8 bits per channel; an
/// animation as APNG, with 8 bits per channel.
enum PNGEncoder: FormatEncoder {
    static let format = ImageFormat.png
    static let isAnimated = true
    static let qualityScale: QualityScale? = nil

    /// The compression level of zlib: half the time of the default for a few percent more bytes.
    private static let compressionLevel: Int32 = 4

    static func encode(_ image: Image, quality: Double, options: EncodeOptions) throws(EideticError) -> [UInt8] {
        var bytes = try encode(image.reduced(toColours: options.maximumColorCount, for: format))
        if let metadata = options.metadata { bytes = try PNGMetadata.bytes(bytes, with: metadata) }
        return bytes
    }

    private static func encode(_ image: Image) throws(EideticError) -> [UInt8] {
        let hasAlpha = image.frames.contains { $0.pixels.alpha != .opaque }
        guard image.isAnimated else { return try encode(image.pixels, hasAlpha: hasAlpha, keepsForm: false) }
        var frames: [(png: [UInt8], duration: Duration)] = []
        for frame in image.frames {
            frames.append((try encode(frame.pixels, hasAlpha: hasAlpha, keepsForm: true), frame.duration))
        }
        return APNGWriter.file(of: frames, size: image.size, loopCount: image.loopCount)
    }

    private static func encode(
        _ pixels: PixelBuffer,
        hasAlpha: Bool,
        keepsForm: Bool
    ) throws(EideticError) -> [UInt8] {
        let pixels = try pixels.unpremultiplied()
        var encoded = EncoderOutput()
        let capacity = encoded.message.count
        let status = pixels.withUnsafeBytes {
            eidetic_png_encode(
                $0.bytePointer,
                pixels.bytesPerRow,
                UInt32(pixels.size.width),
                UInt32(pixels.size.height),
                hasAlpha ? 1 : 0,
                keepsForm ? 1 : 0,
                compressionLevel,
                &encoded.base,
                &encoded.count,
                &encoded.message,
                capacity
            )
        }
        guard status == EIDETIC_PNG_OK else {
            throw encoded.error(format: "PNG", isOutOfMemory: status == EIDETIC_PNG_OUT_OF_MEMORY)
        }
        return encoded.array
    }
}
