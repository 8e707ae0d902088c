import EideticCore

/// The codecs of this build, and those of users.
///
/// A new codec is added here and nowhere else.
enum CodecRegistry {
    /// The codecs in lookup order.
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
}
