import CPNG
import EideticCore

/// PNG by libpng, 8 bits per channel, tagged as sRGB.
enum PNGEncoder: FormatEncoder {
    static let format = ImageFormat.png

    /// The compression level of zlib: half the time of the default for a few percent more bytes.
    private static let compressionLevel: Int32 = 4

    static func encode(_ image: Image, quality: Double) throws(EideticError) -> [UInt8] {
        let pixels = try image.pixels.unpremultiplied()
        var encoded = EncoderOutput()
        let capacity = encoded.message.count
        let status = pixels.withUnsafeBytes {
            eidetic_png_encode(
                $0.bytePointer,
                pixels.bytesPerRow,
                UInt32(pixels.size.width),
                UInt32(pixels.size.height),
                pixels.alpha == .opaque ? 0 : 1,
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
