import EideticCore

extension CodecRegistry {
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
