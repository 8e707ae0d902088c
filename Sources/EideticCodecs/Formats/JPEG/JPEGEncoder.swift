import CJPEG
import CPixels
import EideticCore

/// JPEG by libjpeg-turbo; no chroma subsampling at a quality of 0.9 or more.
enum JPEGEncoder: FormatEncoder {
    static let format = ImageFormat.jpeg

    static func encode(_ image: Image, quality: Double) throws(EideticError) -> [UInt8] {
        let pixels = try flattenedOnWhite(image.pixels)
        guard pixels.size.width <= 65_500, pixels.size.height <= 65_500 else {
            throw EideticError(
                .encodingFailed,
                message: "JPEG: the image has \(pixels.size) pixels; the limit is 65500 per side"
            )
        }
        var encoded = EncoderOutput()
        let capacity = encoded.message.count
        let percent = Int32((quality * 100).rounded())
        let status = pixels.withUnsafeBytes {
            eidetic_jpeg_encode(
                $0.bytePointer,
                pixels.bytesPerRow,
                UInt32(pixels.size.width),
                UInt32(pixels.size.height),
                max(1, percent),
                percent >= 90 ? 1 : 2,
                &encoded.base,
                &encoded.count,
                &encoded.message,
                capacity
            )
        }
        guard status == EIDETIC_JPEG_OK else {
            throw encoded.error(format: "JPEG", isOutOfMemory: status == EIDETIC_JPEG_OUT_OF_MEMORY)
        }
        return encoded.array
    }

    private static func flattenedOnWhite(_ pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
        guard pixels.alpha != .opaque else { return pixels }
        let straight = try pixels.unpremultiplied()
        return try PixelBuffer(size: pixels.size, alpha: .opaque) { target, stride in
            target.initializeMemory(as: UInt8.self, repeating: 255)
            straight.withUnsafeBytes {
                eidetic_pixels_blend(
                    $0.kernelSource(stride: straight.bytesPerRow, size: pixels.size),
                    target.kernelTarget(stride: stride)
                )
            }
        }
    }
}
