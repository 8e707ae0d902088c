import CWebP
import EideticCore
import Glibc

/// WebP by libwebp: lossy, and lossless at a quality of 1; animations by libwebpmux.
enum WebPEncoder: FormatEncoder {
    static let format = ImageFormat.webp
    static let isAnimated = true

    /// Along the step of the quantisation, which is a cube root in libwebp.
    static let qualityScale: QualityScale? = QualityScale(
        slope: 3.8,
        aim: 0.99,
        position: { cbrt($0 < 0.75 ? $0 * 2 / 3 : 2 * $0 - 1) },
        quality: { $0 * $0 * $0 < 0.5 ? $0 * $0 * $0 * 1.5 : ($0 * $0 * $0 + 1) / 2 }
    )

    static func encode(_ image: Image, quality: Double, options: EncodeOptions) throws(EideticError) -> [UInt8] {
        guard image.size.width <= 16_383, image.size.height <= 16_383 else {
            throw EideticError(
                .encodingFailed,
                message: "WebP: the image has \(image.size) pixels; the limit is 16383 per side"
            )
        }
        var bytes = try encode(image, quality: quality)
        if let metadata = options.metadata { bytes = try WebPMetadata.bytes(bytes, with: metadata) }
        return bytes
    }

    private static func encode(_ image: Image, quality: Double) throws(EideticError) -> [UInt8] {
        guard image.isAnimated else { return try encode(try image.pixels.unpremultiplied(), quality: quality) }
        let writer = try WebPAnimationWriter(size: image.size, loopCount: image.loopCount, quality: quality)
        for frame in image.frames { try writer.add(frame) }
        return try writer.finish()
    }

    private static func encode(_ pixels: PixelBuffer, quality: Double) throws(EideticError) -> [UInt8] {
        var encoded: UnsafeMutablePointer<UInt8>?
        let width = Int32(pixels.size.width)
        let height = Int32(pixels.size.height)
        let stride = Int32(pixels.bytesPerRow)
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
