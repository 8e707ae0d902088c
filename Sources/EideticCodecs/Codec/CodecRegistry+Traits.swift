extension CodecRegistry {
    /// The codecs that are parts of this build only with their trait.
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
