public import EideticCore

extension Image {
    /// Returns the image as a file, for a disk or a client; encodes on the calling thread.
    ///
    /// JPEG has no transparency: the image is composited on white. JPEG and HEIC have the first frame of an animation
    /// only, as all formats have of one that was loaded without `preloadAllFrames`; GIF has at most 256 colours a frame
    /// and no partial transparency. `ImageEncoder` of `EideticCodecs` has further options.
    ///
    /// - Parameters:
    ///   - format: A format that this build encodes: JPEG, PNG, GIF, WebP, and where built in AVIF and HEIC.
    ///   - quality: The quality of a lossy format, from 0 to 1; WebP and AVIF at 1 are lossless. 0.85 by default. PNG
    ///     is always lossless.
    /// - Returns: The encoded file.
    /// - Throws: `unsupportedFormat`, `invalidArgument` if `quality` is out of range, `encodingFailed` if the format
    ///   cannot hold the size, or `outOfMemory`; for a deferred image, the errors of decoding it.
    public func encoded(as format: ImageFormat, quality: Double = 0.85) throws(EideticError) -> [UInt8] {
        try ImageEncoder.encode(self, as: format, quality: quality)
    }
}

/// Encodes images.
public enum ImageEncoder {
    private static var encoders: [any FormatEncoder.Type] {
        [JPEGEncoder.self, PNGEncoder.self, WebPEncoder.self, GIFEncoder.self] + CodecRegistry.optionalEncoders
    }

    /// The formats that this build encodes.
    public static var supportedFormats: [ImageFormat] { encoders.map { $0.format } }

    /// The formats in which all frames of an animation are encoded.
    public static var animatedFormats: [ImageFormat] { encoders.filter { $0.isAnimated }.map { $0.format } }

    /// Returns the format in which an image is stored if its bytes are not at hand.
    package static func storageFormat(of image: Image) -> ImageFormat {
        let format = image.format
        // A side of WebP has 14 bits.
        let fitsWebP = max(image.size.width, image.size.height) <= 16_383
        if image.isAnimated { return format == .gif || !fitsWebP ? .gif : .webp }
        let hasAlpha = image.frames.contains { $0.pixels.alpha != .opaque }
        // The encoders of HEIF take seconds for a photograph without loss.
        guard [.jpeg, .png, .webp, .gif].contains(format) else { return hasAlpha ? .png : .jpeg }
        // A transform may have made a JPEG image transparent.
        return format == .jpeg && hasAlpha ? .png : format
    }

    /// Encodes an image; see `Image.encoded(as:quality:)`.
    package static func encode(
        _ image: Image,
        as format: ImageFormat,
        quality: Double = 0.85
    ) throws(EideticError) -> [UInt8] {
        var options = EncodeOptions()
        options.quality = quality
        return try encode(image, as: format, options: options)
    }

    /// Encodes an image with a quality, within limits, with metadata, or in another form.
    ///
    /// - Parameters:
    ///   - image: The image, in sRGB.
    ///   - format: One of ``supportedFormats``, or the format of a registered ``ImageCodecPlugin``.
    ///   - options: The quality, the limits and the form of the file.
    /// - Returns: The encoded file.
    /// - Throws: The errors of `Image.encoded(as:quality:)`; `invalidArgument` also if a limit is not positive, and
    ///   `encodingFailed` also if the limit of bytes is too small for the image, or the metadata too large for the
    ///   format.
    public static func encode(
        _ image: Image,
        as format: ImageFormat,
        options: EncodeOptions
    ) throws(EideticError) -> [UInt8] {
        try options.check()
        if !supportedFormats.contains(format), let codec = PluginCodec.registered(for: format) {
            let image = try image.decodedSynchronously().fitted(into: options.maximumSize)
            var options = options
            options.metadata = options.metadata?.current(for: image.size)
            let bytes = try codec.encode(image, options: options)
            guard let limit = options.maximumByteCount?.bytes, bytes.count > limit else { return bytes }
            throw tooLarge(image, as: format, limit: limit, remedy: "a smaller size or a lower quality")
        }
        let encoder = try encoder(of: format)
        let image = try image.decodedSynchronously().prepared(for: encoder, maximumSize: options.maximumSize)
        var options = options
        options.metadata = options.metadata?.current(for: image.size)
        guard let limit = options.maximumByteCount?.bytes else {
            return try encoder.encode(image, quality: options.quality, options: options)
        }
        guard let bytes = try encode(image, with: encoder, options: options, limit: limit) else {
            throw tooLarge(image, as: format, limit: limit)
        }
        return bytes
    }

    private static func tooLarge(
        _ image: Image,
        as format: ImageFormat,
        limit: Int,
        remedy: String = "a smaller size"
    ) -> EideticError {
        let reason = "the image of \(image.size) pixels does not fit into \(limit) bytes; use \(remedy)"
        return EideticError(.encodingFailed, message: "\(format.rawValue): \(reason)")
    }

    private static func encoder(of format: ImageFormat) throws(EideticError) -> any FormatEncoder.Type {
        if let encoder = encoders.first(where: { $0.format == format }) { return encoder }
        if [.avif, .heic].contains(format), let trait = CodecRegistry.trait(of: format) {
            let remedy = "build Eidetic with the package trait \(trait)"
            throw EideticError(.unsupportedFormat, message: "this build has no encoder for \(format); \(remedy)")
        }
        let known = supportedFormats.map(\.rawValue).joined(separator: ", ")
        throw EideticError(.unsupportedFormat, message: "\(format) cannot be encoded, only \(known)")
    }

    /// Returns the largest file within a limit; `nil` if there is none.
    private static func encode(
        _ image: Image,
        with encoder: any FormatEncoder.Type,
        options: EncodeOptions,
        limit: Int
    ) throws(EideticError) -> [UInt8]? {
        guard let scale = encoder.qualityScale else {
            let search = ByteCountSearch(limit: limit, range: image.smallestScale...0, slope: 2)
            return try search.run { scale throws(EideticError) in
                try encoder.encode(image.scaled(byLogarithm: scale), quality: options.quality, options: options)
            }
        }
        let last = scale.position(options.quality)
        let first = scale.position(0)
        let search = ByteCountSearch(limit: limit, range: first...last, slope: scale.slope, aim: scale.aim)
        return try search.run { position throws(EideticError) in
            let quality = position == last ? options.quality : scale.quality(position)
            return try encoder.encode(image, quality: quality, options: options)
        }
    }
}

extension EncodeOptions {
    fileprivate func check() throws(EideticError) {
        guard (0...1).contains(quality) else {
            throw EideticError(.invalidArgument, message: "the quality is \(quality); it must be between 0 and 1")
        }
        guard maximumSize?.isPositive != false, maximumByteCount?.bytes ?? 1 > 0 else {
            throw EideticError(.invalidArgument, message: "the limits of pixels and bytes must be positive")
        }
        guard (2...256).contains(maximumColorCount ?? 2) else {
            throw EideticError(.invalidArgument, message: "the number of colours must be from 2 to 256")
        }
    }
}
