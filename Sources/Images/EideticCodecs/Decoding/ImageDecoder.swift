public import EideticCore

/// Decodes images of every supported format.
///
/// The format is detected from the content; file names and media types are ignored. All functions compute or block
/// until the image is decoded: do not call them on the main actor.
public enum ImageDecoder {
    /// The formats that this build decodes, and those of registered codecs.
    public static var supportedFormats: [ImageFormat] {
        CodecRegistry.all.flatMap { $0.formats } + PluginCodec.formats
    }

    /// Parses the header of an image without decoding pixels.
    ///
    /// - Parameters:
    ///   - bytes: The first bytes of the image, or all of them. Frames are counted as far as the bytes reach.
    ///   - isComplete: A Boolean value indicating whether `bytes` is the whole file.
    /// - Returns: The header; `nil` if more bytes are needed, which requires that `isComplete` is false.
    /// - Throws: `notAnImage`, `unsupportedFormat`, `truncated` or `corrupt`.
    /// - Complexity: O(*n*) in the number of blocks of the format, not in pixels.
    package static func header(of bytes: [UInt8], isComplete: Bool = true) throws(EideticError) -> ImageHeader? {
        try bytes.span.withUnsafeBytes { bytes throws(EideticError) in try header(of: bytes, isComplete: isComplete) }
    }

    /// Decodes an image at full size or at the size in `options`.
    ///
    /// Limits are checked before memory is allocated. If the format allows it, a large file with a small target size is
    /// decoded at a fraction of its size.
    ///
    /// - Parameters:
    ///   - bytes: The encoded image.
    ///   - options: The target size, the frames and the conversions.
    ///   - limits: The maximum resources of the decode.
    /// - Returns: The decoded image.
    /// - Throws: `notAnImage`, `unsupportedFormat`, `truncated`, `corrupt`, `limitExceeded` or `outOfMemory`.
    package static func decode(
        _ bytes: [UInt8],
        options: DecodeOptions = DecodeOptions(),
        limits: DecodeLimits = .standard
    ) throws(EideticError) -> Image {
        try bytes.span.withUnsafeBytes { bytes throws(EideticError) in
            let plan = try DecodePlan(bytes: bytes, options: options, limits: limits, context: JobContext())
            return try DecodeMemoryBudget.shared.withImmediateReservation(of: plan.workingMemory) {
                () throws(EideticError) in try plan.decode()
            }
        }
    }

    /// Decodes an image once its memory is reserved; for threads of a `WorkPool` only.
    ///
    /// - Throws: The errors of ``decode(_:options:limits:)``, and `cancelled` soon after `context` was cancelled.
    package static func decode(
        _ bytes: [UInt8],
        options: DecodeOptions,
        limits: DecodeLimits,
        context: JobContext
    ) throws(EideticError) -> Image {
        try bytes.span.withUnsafeBytes { bytes throws(EideticError) in
            let plan = try DecodePlan(bytes: bytes, options: options, limits: limits, context: context)
            return try DecodeMemoryBudget.shared.withReservation(of: plan.workingMemory, context: context) {
                () throws(EideticError) in try plan.decode()
            }
        }
    }

    /// Returns whether a format is decoded by a codec of the user.
    package static func isPlugin(_ format: ImageFormat) -> Bool { PluginCodec.formats.contains(format) }

    /// Parses the header and checks the limits as `decode` does, and returns an image that is decoded on first use.
    ///
    /// - Throws: The errors of `decode` that the header alone causes.
    package static func makeDeferredImage(
        from bytes: [UInt8],
        options: DecodeOptions,
        limits: DecodeLimits,
        decode: @escaping DeferredImage.DecodeFunction,
        decodeShared: @escaping DeferredImage.SharedDecodeFunction
    ) throws(EideticError) -> (image: Image, header: ImageHeader) {
        try bytes.span.withUnsafeBytes { bytes throws(EideticError) in
            let plan = try DecodePlan(bytes: bytes, options: options, limits: limits, context: JobContext())
            return (plan.makeDeferredImage(decode: decode, decodeShared: decodeShared), plan.header)
        }
    }

    /// Returns the peak memory of decoding the image, in bytes; a decode waits until so much is available.
    ///
    /// - Throws: The errors of ``decode(_:options:limits:context:)`` that the header alone causes.
    package static func workingMemory(
        for bytes: [UInt8],
        options: DecodeOptions = DecodeOptions(),
        limits: DecodeLimits = .standard
    ) throws(EideticError) -> Int {
        try bytes.span.withUnsafeBytes { bytes throws(EideticError) in
            try DecodePlan(bytes: bytes, options: options, limits: limits, context: JobContext()).workingMemory
        }
    }

    /// Parses the header of an image without decoding pixels.
    package static func header(
        of bytes: UnsafeRawBufferPointer,
        isComplete: Bool
    ) throws(EideticError) -> ImageHeader? {
        guard let format = try format(of: bytes, isComplete: isComplete) else { return nil }
        let input = ReceivedBytes(bytes: bytes, isComplete: isComplete, format: format)
        return try CodecRegistry.codec(for: format).header(of: input)
    }

    /// Returns the format detected from the first bytes; `nil` if more bytes are needed.
    static func format(of bytes: UnsafeRawBufferPointer, isComplete: Bool) throws(EideticError) -> ImageFormat? {
        switch ImageFormat.detect(in: bytes) {
        case .format(let format): return format
        case .needsMoreBytes:
            guard isComplete else { return nil }
            throw EideticError(.truncated, message: "\(bytes.count) bytes are too few for an image")
        case .unknown:
            throw EideticError(.notAnImage, message: "the bytes are not an image of a known format")
        }
    }
}
