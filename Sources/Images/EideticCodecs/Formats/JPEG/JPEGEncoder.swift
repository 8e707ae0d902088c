import CJPEG
import CPixels
import EideticCore
import Glibc

/// JPEG by libjpeg-turbo; no chroma subsampling at a quality of 0.9 or more.
enum JPEGEncoder: FormatEncoder {
    static let format = ImageFormat.jpeg
    static let isAnimated = false

    /// Along the logarithm of the quantisation steps.
    static let qualityScale: QualityScale? = QualityScale(
        slope: 0.65,
        aim: 0.99,
        position: { -log(max(0.01, $0 < 0.5 ? 0.5 / max(0.01, $0) : 2 - 2 * $0)) },
        quality: { $0 < 0 ? 0.5 * exp($0) : 1 - 0.5 * exp(-$0) }
    )

    static func encode(_ image: Image, quality: Double, options: EncodeOptions) throws(EideticError) -> [UInt8] {
        let bytes = try encode(flattened(image.pixels, on: options.background), quality: quality, options: options)
        return try options.metadata.map { metadata throws(EideticError) in
            try JPEGMetadata.bytes(bytes, with: metadata)
        } ?? bytes
    }

    private static func encode(
        _ pixels: PixelBuffer,
        quality: Double,
        options: EncodeOptions
    ) throws(EideticError) -> [UInt8] {
        guard pixels.size.width <= 65_500, pixels.size.height <= 65_500 else {
            throw EideticError(
                .encodingFailed,
                message: "JPEG: the image has \(pixels.size) pixels; the limit is 65500 per side"
            )
        }
        var encoded = EncoderOutput()
        let capacity = encoded.message.count
        // The sampling is that of the quality asked for, also if a limit of bytes lowers it: sizes then have no step.
        let form = eidetic_jpeg_form(
            quality: max(1, quality * 100),
            chroma: options.quality >= 0.895 ? 1 : 2,
            is_progressive: options.isProgressive
        )
        let status = pixels.withUnsafeBytes {
            eidetic_jpeg_encode(
                $0.bytePointer,
                pixels.bytesPerRow,
                UInt32(pixels.size.width),
                UInt32(pixels.size.height),
                form,
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

    private static func flattened(
        _ pixels: PixelBuffer,
        on background: ImageColor
    ) throws(EideticError) -> PixelBuffer {
        guard pixels.alpha != .opaque else { return pixels }
        let source = try pixels.premultiplied()
        let colour = [background.red, background.green, background.blue]
        return try PixelBuffer(size: pixels.size, alpha: .opaque) { target, stride in
            source.withUnsafeBytes {
                eidetic_pixels_flatten(
                    $0.kernelSource(stride: source.bytesPerRow, size: source.size),
                    target.kernelTarget(stride: stride),
                    colour
                )
            }
        }
    }
}
