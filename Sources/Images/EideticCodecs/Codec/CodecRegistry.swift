import EideticCore

/// The codecs of this build, and those of users.
///
/// A new codec is added here and nowhere else.
enum CodecRegistry {
    static let all: [any ImageCodec.Type] =
        [
            JPEGCodec.self, PNGCodec.self, WebPCodec.self, GIFCodec.self, BMPCodec.self, ICOCodec.self,
            TIFFCodec.self,
        ]
        + optional

    /// Returns the codec of a format.
    ///
    /// - Throws: `unsupportedFormat` if this build has no decoder for it.
    static func codec(for format: ImageFormat) throws(EideticError) -> any ImageCodec.Type {
        if let codec = all.first(where: { $0.formats.contains(format) }) { return codec }
        guard PluginCodec.formats.contains(format) else {
            throw missingDecoder(for: format)
        }
        return PluginCodec.self
    }

    private static func missingDecoder(for format: ImageFormat) -> EideticError {
        let remedy = trait(of: format).map { "; build Eidetic with the package trait \($0)" } ?? ""
        return EideticError(.unsupportedFormat, message: "this build has no decoder for \(format)\(remedy)")
    }

    /// The codecs whose trait is enabled in this build.
    static var optional: [any ImageCodec.Type] {
        var codecs: [any ImageCodec.Type] = []
        #if AVIF
        codecs.append(AVIFCodec.self)
        #endif
        #if HEIF
        codecs.append(HEICCodec.self)
        #endif
        #if JPEGXL
        codecs.append(JPEGXLCodec.self)
        #endif
        #if SVG
        codecs.append(SVGCodec.self)
        #endif
        return codecs
    }

    /// The encoders whose trait is enabled in this build.
    static var optionalEncoders: [any FormatEncoder.Type] {
        var encoders: [any FormatEncoder.Type] = []
        #if AVIF
        encoders.append(AVIFEncoder.self)
        #endif
        #if HEIF
        encoders.append(HEICEncoder.self)
        #endif
        return encoders
    }

    /// Returns the trait that a build needs for a format; `nil` if it needs none.
    static func trait(of format: ImageFormat) -> String? {
        switch format {
        case .avif: "AVIF"
        case .heic: "HEIF"
        case .jpegxl: "JPEGXL"
        case .svg: "SVG"
        default: nil
        }
    }
}
