public import EideticCore

/// Writes pictures.
public enum ImageEncoder {
    private static var encoders: [any FormatEncoder.Type] {
        [JPEGEncoder.self, PNGEncoder.self, WebPEncoder.self, GIFEncoder.self]
    }

    /// The formats that this build encodes.
    public static var supportedFormats: [ImageFormat] { encoders.map { $0.format } }

    /// Encodes a picture.
    ///
    /// JPEG has no transparency: the picture is laid on white. GIF keeps all frames of an animation, at most 256 colours
    /// and no half transparency; the other formats take the first frame.
    ///
    /// - Parameters:
    ///   - image: The picture, in sRGB.
    ///   - format: One of ``supportedFormats``.
    ///   - quality: From 0 to 1, for JPEG and WebP; WebP at 1 is without loss. 0.85 by default. PNG is always without
    ///     loss.
    /// - Returns: The encoded file.
    /// - Throws: `unsupportedFormat`, `encodingFailed` where the format cannot hold the size, or `outOfMemory`; what
    ///   decoding throws for a picture that was not decoded yet.
    public static func encode(
        _ image: Image,
        as format: ImageFormat,
        quality: Double = 0.85
    ) throws(EideticError) -> [UInt8] {
        guard let encoder = encoders.first(where: { $0.format == format }) else {
            throw EideticError(.unsupportedFormat, message: "this build has no encoder for \(format.rawValue)")
        }
        guard (0...1).contains(quality) else {
            throw EideticError(.invalidArgument, message: "a quality of \(quality); it lies between 0 and 1")
        }
        return try encoder.encode(try image.decodedSynchronously(), quality: quality)
    }
}
