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
            let plan = try DecodePlan(bytes: bytes, options: options, limits: limits, context: JobContext())
            return try DecodeMemoryBudget.shared.withImmediateReservation(of: plan.workingMemory) {
                () throws(EideticError) in try plan.decode()
            }
        }
    }

    /// Decodes a picture when there is memory for it; for threads of a `WorkPool` only.
    ///
    /// - Throws: As above, and `cancelled` soon after the context was cancelled.
    package static func decode(
        _ bytes: UnsafeRawBufferPointer,
        options: DecodeOptions,
        limits: DecodeLimits,
        context: JobContext
    ) throws(EideticError) -> Image {
        let plan = try DecodePlan(bytes: bytes, options: options, limits: limits, context: context)
        return try DecodeMemoryBudget.shared.withReservation(of: plan.workingMemory, context: context) {
            () throws(EideticError) in try plan.decode()
        }
    }

    /// Reads the head of a picture and checks the limits, as `decode` does, and leaves the pixels to be made when they are
    /// used.
    ///
    /// - Throws: What the head alone makes `decode` throw.
    package static func makeDeferredImage(
        from bytes: [UInt8],
        options: DecodeOptions,
        limits: DecodeLimits,
        decode: @escaping DeferredImage.DecodeFunction,
        share: @escaping DeferredImage.SharedDecodeFunction
    ) throws(EideticError) -> (image: Image, header: ImageHeader) {
        try bytes.span.withUnsafeBytes { bytes throws(EideticError) in
            let plan = try DecodePlan(bytes: bytes, options: options, limits: limits, context: JobContext())
            return (plan.makeDeferredImage(decode: decode, share: share), plan.header)
        }
    }

    /// The memory in bytes that decoding this picture takes at the most at one time, by which it waits for its turn.
    ///
    /// - Throws: What the header alone makes ``decode(_:options:limits:context:)`` throw.
    package static func workingMemory(
        for bytes: [UInt8],
        options: DecodeOptions = DecodeOptions(),
        limits: DecodeLimits = .standard
    ) throws(EideticError) -> Int {
        try bytes.span.withUnsafeBytes { bytes throws(EideticError) in
            try DecodePlan(bytes: bytes, options: options, limits: limits, context: JobContext()).workingMemory
        }
    }

    /// Reads what a picture says about itself.
    package static func header(
        of bytes: UnsafeRawBufferPointer,
        isComplete: Bool
    ) throws(EideticError) -> ImageHeader? {
        guard let format = try format(of: bytes, isComplete: isComplete) else { return nil }
        return try CodecRegistry.codec(for: format).header(of: bytes, isComplete: isComplete, format: format)
    }

    /// The format that the first bytes tell; `nil` where more are needed.
    static func format(of bytes: UnsafeRawBufferPointer, isComplete: Bool) throws(EideticError) -> ImageFormat? {
        switch ImageFormat.detect(in: bytes) {
        case .format(let format): return format
        case .needsMoreBytes:
            guard isComplete else { return nil }
            throw EideticError(.truncated, message: "\(bytes.count) bytes are too few to be a picture")
        case .unknown:
            throw EideticError(.notAnImage, message: "the bytes begin no picture that is known")
        }
    }
}
