import EideticCore

/// The encoder of one format; ``ImageEncoder`` selects one by ``format``.
protocol FormatEncoder: SendableMetatype {
    static var format: ImageFormat { get }

    /// Encodes an image; `quality` lies between 0 and 1, and lossless formats ignore it.
    static func encode(_ image: Image, quality: Double) throws(EideticError) -> [UInt8]
}
