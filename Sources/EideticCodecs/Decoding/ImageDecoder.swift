public import EideticCore

/// Reads pictures of every supported format (F01, F02).
///
/// The format is found in the content; names and types that others claim do not matter. All functions compute or block
/// for as long as the picture takes: call them off the main actor.
public enum ImageDecoder {
    /// The formats that this build decodes.
    public static var supportedFormats: [ImageFormat] { CodecRegistry.all.flatMap { $0.formats } }

    /// Reads what a picture says about itself, without decoding pixels.
    ///
    /// - Parameters:
    ///   - bytes: The first bytes of the picture, or all of it. Frames are counted as far as the bytes go.
    ///   - isComplete: Whether no more bytes will come.
    /// - Returns: `nil` where more bytes are needed; only when `isComplete` is false.
    /// - Throws: `notAPicture`, `unsupportedFormat`, `truncated` or `corrupt`.
    /// - Complexity: O(*n*) in the number of blocks that the format has, not in its pixels.
    public static func header(of bytes: [UInt8], isComplete: Bool = true) throws(EideticError) -> ImageHeader? {
        try bytes.span.withUnsafeBytes { bytes throws(EideticError) in try header(of: bytes, isComplete: isComplete) }
    }

    /// Decodes a picture, at full size or to the size in `options`.
    ///
    /// Limits are checked before memory is taken. A file of ten thousand pixels a side that is wanted at the size of a
    /// thumbnail is decoded at a fraction of its size where the format can.
    ///
    /// - Throws: `notAPicture`, `unsupportedFormat`, `truncated`, `corrupt`, `limitExceeded` or `outOfMemory`.
    public static func decode(
        _ bytes: [UInt8],
        options: DecodeOptions = DecodeOptions(),
        limits: DecodeLimits = .standard
    ) throws(EideticError) -> Image {
        try bytes.span.withUnsafeBytes { bytes throws(EideticError) in
            let plan = try DecodePlan(bytes, options, limits, WorkContext())
            return try DecodeMemory.shared.withoutWaiting(plan.memory) { () throws(EideticError) in try plan.run() }
        }
    }

    /// Decodes a picture when there is memory for it; for threads of a `WorkPool` only.
    ///
    /// - Throws: As above, and `cancelled` soon after the context was cancelled.
    package static func decode(
        _ bytes: UnsafeRawBufferPointer,
        options: DecodeOptions,
        limits: DecodeLimits,
        context: WorkContext
    ) throws(EideticError) -> Image {
        let plan = try DecodePlan(bytes, options, limits, context)
        return try DecodeMemory.shared.withShare(plan.memory, context) { () throws(EideticError) in try plan.run() }
    }

    /// Reads the head of a picture and checks the limits, as `decode` does, and leaves the pixels to be made when they are
    /// used.
    ///
    /// - Throws: What the head alone makes `decode` throw.
    package static func deferred(
        _ bytes: [UInt8],
        options: DecodeOptions,
        limits: DecodeLimits,
        decode: @escaping DeferredPicture.Decode,
        share: @escaping DeferredPicture.Share
    ) throws(EideticError) -> (image: Image, header: ImageHeader) {
        try bytes.span.withUnsafeBytes { bytes throws(EideticError) in
            let plan = try DecodePlan(bytes, options, limits, WorkContext())
            return (plan.deferred(decode, share), plan.header)
        }
    }

    /// The memory in bytes that decoding this picture takes at the most at one time, by which it waits for its turn.
    ///
    /// - Throws: What the header alone makes ``decode(_:options:limits:context:)`` throw.
    package static func memory(
        for bytes: [UInt8],
        options: DecodeOptions = DecodeOptions(),
        limits: DecodeLimits = .standard
    ) throws(EideticError) -> Int {
        try bytes.span.withUnsafeBytes { bytes throws(EideticError) in
            try DecodePlan(bytes, options, limits, WorkContext()).memory
        }
    }

    /// Reads what a picture says about itself.
    package static func header(
        of bytes: UnsafeRawBufferPointer,
        isComplete: Bool
    ) throws(EideticError) -> ImageHeader? {
        guard let format = try format(of: bytes, isComplete: isComplete) else { return nil }
        return try CodecRegistry.codec(for: format).header(bytes, isComplete: isComplete, format: format)
    }

    /// The format that the first bytes tell; `nil` where more are needed.
    static func format(of bytes: UnsafeRawBufferPointer, isComplete: Bool) throws(EideticError) -> ImageFormat? {
        switch ImageFormat.detect(bytes) {
        case .format(let format): return format
        case .needsMore:
            guard isComplete else { return nil }
            throw EideticError(.truncated, "\(bytes.count) bytes are too few to be a picture")
        case .unknown:
            throw EideticError(.notAPicture, "the bytes begin no picture that is known")
        }
    }
}
