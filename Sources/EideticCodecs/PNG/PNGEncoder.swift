import CPNG
import EideticCore
import Glibc

/// PNG by libpng, 8 bits a channel, marked as sRGB.
enum PNGEncoder: PictureEncoder {
    static let format = ImageFormat.png

    /// zlib's level: half the time of the default one for some percent more bytes.
    private static let level: Int32 = 4

    static func encode(_ image: Image, quality: Double) throws(EideticError) -> [UInt8] {
        let pixels = try image.pixels.unpremultiplied()
        var encoded: UnsafeMutablePointer<UInt8>?
        var count = 0
        var message = [CChar](repeating: 0, count: 128)
        let status = pixels.withUnsafeBytes {
            eidetic_png_encode(
                $0.bytePointer,
                pixels.bytesPerRow,
                UInt32(pixels.size.width),
                UInt32(pixels.size.height),
                pixels.alpha == .opaque ? 0 : 1,
                level,
                &encoded,
                &count,
                &message,
                message.count
            )
        }
        defer { free(encoded) }
        guard status == EIDETIC_PNG_OK else {
            let text = message.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
            throw EideticError(status == EIDETIC_PNG_OUT_OF_MEMORY ? .outOfMemory : .encodingFailed, "PNG: \(text)")
        }
        return Array(UnsafeBufferPointer(start: encoded, count: count))
    }
}
