public import EideticCore

/// Encodes images.
public enum ImageEncoder {
    private static var encoders: [any FormatEncoder.Type] {
        [JPEGEncoder.self, PNGEncoder.self, WebPEncoder.self, GIFEncoder.self]
    }

    /// The formats that can be encoded, the same in every build.
    public static var supportedFormats: [ImageFormat] { encoders.map { $0.format } }

    /// Encodes an image.
    ///
    /// JPEG has no transparency: the image is composited on white. GIF keeps all frames of an animation, with at most
    /// 256 colours and no partial transparency; the other formats encode the first frame.
    ///
    /// - Parameters:
    ///   - image: The image, in sRGB.
    ///   - format: One of ``supportedFormats``.
    ///   - quality: The quality of JPEG and WebP, from 0 to 1; WebP at 1 is lossless. 0.85 by default. PNG is always
    ///     lossless.
    /// - Returns: The encoded file.
    /// - Throws: `unsupportedFormat`, `invalidArgument` if `quality` is out of range, `encodingFailed` if the format
    ///   cannot hold the size, or `outOfMemory`; for a deferred image, the errors of decoding it.
    public static func encode(
        _ image: Image,
        as format: ImageFormat,
        quality: Double = 0.85
    ) throws(EideticError) -> [UInt8] {
        guard let encoder = encoders.first(where: { $0.format == format }) else {
            let known = supportedFormats.map(\.rawValue).joined(separator: ", ")
            throw EideticError(.unsupportedFormat, message: "\(format) cannot be encoded, only \(known)")
        }
        guard (0...1).contains(quality) else {
            throw EideticError(.invalidArgument, message: "the quality is \(quality); it must be between 0 and 1")
        }
        return try encoder.encode(try image.decodedSynchronously(), quality: quality)
    }
}
