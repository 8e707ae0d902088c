import CWebP
import EideticCore

/// WebP by libwebp: lossy, and lossless at a quality of 1.
enum WebPEncoder: FormatEncoder {
    static let format = ImageFormat.webp

    static func encode(_ image: Image, quality: Double) throws(EideticError) -> [UInt8] {
        let pixels = try image.pixels.unpremultiplied()
        guard pixels.size.width <= 16_383, pixels.size.height <= 16_383 else {
            throw EideticError(
                .encodingFailed,
                message: "WebP: the image has \(pixels.size) pixels; the limit is 16383 per side"
            )
        }
        var encoded: UnsafeMutablePointer<UInt8>?
        let width = Int32(pixels.size.width), height = Int32(pixels.size.height), stride = Int32(pixels.bytesPerRow)
        let count = pixels.withUnsafeBytes { bytes in
            quality == 1
                ? WebPEncodeLosslessRGBA(bytes.bytePointer, width, height, stride, &encoded)
                : WebPEncodeRGBA(bytes.bytePointer, width, height, stride, Float(quality * 100), &encoded)
        }
        defer { WebPFree(encoded) }
        guard count > 0 else {
            throw EideticError(.encodingFailed, message: "WebP: libwebp could not encode \(pixels.size) pixels")
        }
        return Array(UnsafeBufferPointer(start: encoded, count: count))
    }
}
