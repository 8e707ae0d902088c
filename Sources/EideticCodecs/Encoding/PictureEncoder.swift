import EideticCore

/// An encoder of one format, on top of one library.
protocol FormatEncoder: SendableMetatype {
    static var format: ImageFormat { get }

    /// Encodes a picture; `quality` lies between 0 and 1.
    static func encode(_ image: Image, quality: Double) throws(EideticError) -> [UInt8]
}
