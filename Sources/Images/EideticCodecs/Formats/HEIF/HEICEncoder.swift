#if HEIF
import CCodec
import CHEIF
import EideticCore

/// HEIC by libheif and its encoder of HEVC.
enum HEICEncoder: FormatEncoder {
    static let format = ImageFormat.heic
    static let isAnimated = false
    static let qualityScale: QualityScale? = .steps
    /// The largest side of HEVC's highest level.
    private static let maximumSide = 16_384

    static func encode(_ image: Image, quality: Double, options: EncodeOptions) throws(EideticError) -> [UInt8] {
        guard max(image.size.width, image.size.height) <= maximumSide else {
            let reason = "the image has \(image.size) pixels; the limit is \(maximumSide) per side"
            throw EideticError(.encodingFailed, message: "heic: \(reason)")
        }
        let metadata = options.metadata ?? ImageMetadata()
        let blocks = [metadata.uprightExif ?? [], metadata.xmp ?? [], metadata.iccProfile ?? []]
        let pixels = try image.pixels.unpremultiplied()
        var output = EncoderOutput()
        var outcome = eidetic_codec_outcome()
        blocks[0].withUnsafeBytes { exif in
            blocks[1].withUnsafeBytes { xmp in
                blocks[2].withUnsafeBytes { profile in
                    var form = eidetic_heif_form(
                        quality: Int32((quality * 100).rounded()),
                        has_full_chroma: options.quality >= 0.895,
                        exif: exif.bytePointer,
                        xmp: xmp.bytePointer,
                        icc: profile.bytePointer,
                        exif_count: exif.count,
                        xmp_count: xmp.count,
                        icc_count: profile.count
                    )
                    pixels.withUnsafeBytes { bytes in
                        let frame = Self.frame(of: pixels, bytes: bytes)
                        _ = eidetic_heif_encode(frame, &form, &output.base, &output.count, &outcome)
                    }
                }
            }
        }
        try outcome.checkEncoding(format: .heic)
        return output.array
    }

    private static func frame(of pixels: PixelBuffer, bytes: UnsafeRawBufferPointer) -> eidetic_heif_frame {
        eidetic_heif_frame(
            pixels: bytes.bytePointer,
            bytes_per_row: pixels.bytesPerRow,
            width: UInt32(pixels.size.width),
            height: UInt32(pixels.size.height),
            has_alpha: pixels.alpha != .opaque
        )
    }
}
#endif
