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
}
