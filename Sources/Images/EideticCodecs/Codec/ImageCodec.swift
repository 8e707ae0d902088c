import EideticCore

/// The bytes of a file so far, and their format.
struct ReceivedBytes {
    let bytes: UnsafeRawBufferPointer
    let isComplete: Bool
    let format: ImageFormat

    /// Returns the error of a file without a part that it needs: a whole file has none, and another ends before it.
    func error(in format: String, without part: String, before place: String, isWhole: Bool) -> EideticError {
        if isWhole { return EideticError(.corrupt, message: "\(format): the file has no \(part)") }
        let message = "\(format): the file ends after \(bytes.count) bytes, before \(place)"
        return EideticError(.truncated, message: message)
    }
}

/// A decoder of one or more formats.
///
/// A codec returns pixels as stored: not rotated, not colour-converted and not exactly of the target size. `DecodePlan`
/// does that once for all formats.
protocol ImageCodec: SendableMetatype {
    /// The formats that ``decode(_:for:)`` accepts.
    static var formats: [ImageFormat] { get }

    /// Loads the library of an optional format, for a process that cannot open files later.
    static func prepare()

    /// Parses the header without allocating pixels.
    ///
    /// - Returns: The header; `nil` if more bytes are needed, which requires that `isComplete` is false.
    /// - Throws: `corrupt`, `truncated` (only if `isComplete` is true) or `unsupportedFormat`.
    static func header(of input: ReceivedBytes) throws(EideticError) -> ImageHeader?

    /// Parses the header of a complete file, and returns the parsed document if ``decode(_:for:)`` can reuse it.
    static func open(
        _ bytes: UnsafeRawBufferPointer,
        format: ImageFormat
    ) throws(EideticError) -> (header: ImageHeader?, document: AnyObject?)

    /// Decodes the pixels, after the header and the limits on size and frames have been checked.
    ///
    /// Calls `task.checkpoint()` every few milliseconds, or between the calls of a library that cannot be interrupted.
    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels

    /// Returns the peak memory of ``decode(_:for:)`` in bytes, including its result.
    static func workingMemory(decoding bytes: UnsafeRawBufferPointer, for task: DecodeTask) -> Int

    /// Returns the size of the pixels that ``decode(_:for:)`` returns, before they are resampled.
    static func decodedSize(for task: DecodeTask) -> PixelSize
}

extension ImageCodec {
    /// Does nothing, for libraries that are linked.
    static func prepare() {}

    /// Returns the stored size.
    static func decodedSize(for task: DecodeTask) -> PixelSize { task.header.size }

    /// Parses the header alone, which suffices for formats with cheap headers.
    static func open(
        _ bytes: UnsafeRawBufferPointer,
        format: ImageFormat
    ) throws(EideticError) -> (header: ImageHeader?, document: AnyObject?) {
        (try header(of: ReceivedBytes(bytes: bytes, isComplete: true, format: format)), nil)
    }

    /// Returns the memory of the image and of the library's copy of it; for an animation, of all its frames at full
    /// size.
    static func workingMemory(decoding bytes: UnsafeRawBufferPointer, for task: DecodeTask) -> Int {
        task.estimatedMemory(canvasCount: task.decodesAllFrames ? task.header.frameCount + 1 : 2)
    }
}
