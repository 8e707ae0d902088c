#if AVIF
import CAVIF
import CCodec
import EideticCore

/// AVIF by libavif, still and as a sequence; lossless at a quality of 1.
enum AVIFEncoder: FormatEncoder {
    static let format = ImageFormat.avif
    static let isAnimated = true
    static let qualityScale: QualityScale? = .steps

    static func encode(_ image: Image, quality: Double, options: EncodeOptions) throws(EideticError) -> [UInt8] {
        let metadata = options.metadata ?? ImageMetadata()
        // The library reads these arrays as long as the encoder exists.
        let blocks = (metadata.uprightExif ?? [], metadata.xmp ?? [], metadata.iccProfile ?? [])
        return try blocks.0.span.withUnsafeBytes { exif throws(EideticError) in
            try blocks.1.span.withUnsafeBytes { xmp throws(EideticError) in
                try blocks.2.span.withUnsafeBytes { profile throws(EideticError) in
                    let form = eidetic_avif_form(
                        quantizer: Int32(((1 - quality) * 63).rounded()),
                        has_full_chroma: options.quality >= 0.895,
                        is_lossless: quality == 1,
                        loop_count: Int32(clamping: image.loopCount ?? 0),
                        exif: block(exif),
                        xmp: block(xmp),
                        icc: block(profile)
                    )
                    return try encode(image, form: form)
                }
            }
        }
    }

    private static func block(_ bytes: UnsafeRawBufferPointer) -> eidetic_avif_block {
        eidetic_avif_block(bytes: bytes.bytePointer, count: bytes.count)
    }

    private static func encode(_ image: Image, form: eidetic_avif_form) throws(EideticError) -> [UInt8] {
        var outcome = eidetic_codec_outcome()
        let encoder = eidetic_avif_encoder_create(form, &outcome)
        try outcome.checkEncoding(format: .avif)
        defer { eidetic_avif_encoder_destroy(encoder) }
        let hasAlpha = image.frames.contains { $0.pixels.alpha != .opaque }
        for frame in image.frames {
            // A frame of a sequence has a duration.
            let duration = image.isAnimated ? max(1, frame.duration.inMilliseconds.rounded()) : 0
            try add(frame.pixels.unpremultiplied(), hasAlpha: hasAlpha, duration: duration, to: encoder)
        }
        var count = 0
        let file = eidetic_avif_encoder_finish(encoder, &count, &outcome)
        try outcome.checkEncoding(format: .avif)
        let bytes = Array(UnsafeBufferPointer(start: file, count: count))
        return image.isAnimated ? AVIFEditList.inserted(into: bytes, loopCount: image.loopCount) : bytes
    }

    private static func add(
        _ pixels: PixelBuffer,
        hasAlpha: Bool,
        duration: Double,
        to encoder: OpaquePointer?
    ) throws(EideticError) {
        var outcome = eidetic_codec_outcome()
        pixels.withUnsafeBytes { bytes in
            let frame = eidetic_avif_frame(
                pixels: bytes.bytePointer,
                bytes_per_row: pixels.bytesPerRow,
                width: UInt32(pixels.size.width),
                height: UInt32(pixels.size.height),
                has_alpha: hasAlpha
            )
            _ = eidetic_avif_encoder_add(encoder, frame, UInt64(min(duration, 0x1p32)), &outcome)
        }
        try outcome.checkEncoding(format: .avif)
    }
}
#endif
