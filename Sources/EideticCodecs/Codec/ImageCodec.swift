import EideticCore

/// A decoder of one or more formats, on top of one library or none.
///
/// A codec gives pixels as they are stored: neither turned, nor colour-converted, nor exactly of the wanted size. All
/// that is the same for every format happens once, in `ImageDecoder`.
protocol ImageCodec: SendableMetatype {
    /// The formats that ``decode(_:_:)`` takes.
    static var formats: [ImageFormat] { get }

    /// Reads what the first bytes say, without allocating pixels.
    ///
    /// - Returns: `nil` where more bytes are needed; only when `isComplete` is false.
    /// - Throws: `corrupt`, `truncated` (only when `isComplete`) or `unsupportedFormat`.
    static func header(
        of bytes: UnsafeRawBufferPointer,
        isComplete: Bool,
        format: ImageFormat
    ) throws(EideticError) -> ImageHeader?

    /// Reads the header of a complete file, and gives what ``decode(_:_:)`` would have to parse once more.
    static func open(
        _ bytes: UnsafeRawBufferPointer,
        format: ImageFormat
    ) throws(EideticError) -> (header: ImageHeader?, document: AnyObject?)

    /// Decodes the pixels; the header and the limits on size and frames have been checked before.
    ///
    /// Polls `task.checkpoint()` every few milliseconds.
    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels

    /// The memory in bytes that ``decode(_:_:)`` needs at the most at one time, its result included.
    static func workingMemory(decoding bytes: UnsafeRawBufferPointer, for task: DecodeTask) -> Int
}

extension ImageCodec {
    /// The header alone: most are parsed in no time.
    static func open(
        _ bytes: UnsafeRawBufferPointer,
        format: ImageFormat
    ) throws(EideticError) -> (header: ImageHeader?, document: AnyObject?) {
        (try header(of: bytes, isComplete: true, format: format), nil)
    }

    /// The whole picture, and the library's own copy of it; for an animation all its frames at full size.
    static func workingMemory(decoding bytes: UnsafeRawBufferPointer, for task: DecodeTask) -> Int {
        task.estimatedMemory(canvasCount: task.decodesAllFrames ? task.header.frameCount + 1 : 2)
    }
}

/// All codecs of this build.
///
/// A new one is added here and nowhere else.
enum CodecRegistry {
    /// In the order in which they are asked.
    static let all: [any ImageCodec.Type] =
        [
            JPEGCodec.self, PNGCodec.self, WebPCodec.self, GIFCodec.self, BMPCodec.self, ICOCodec.self,
            TIFFCodec.self,
        ]
        + optional

    /// The codec for a format.
    static func codec(for format: ImageFormat) throws(EideticError) -> any ImageCodec.Type {
        guard let codec = all.first(where: { $0.formats.contains(format) }) else {
            throw EideticError(.unsupportedFormat, message: "this build has no decoder for \(format.rawValue)")
        }
        return codec
    }
}
