public import EideticCore

/// A decoder of a format of the user's own, and if it has ``encode(_:options:)`` also an encoder.
///
/// ```swift
/// ImageDecoder.register(MyCodec())
/// ```
///
/// Its images are detected, loaded, cached, scaled, transformed and shown as all others: limits are checked, and pixels
/// scaled down and premultiplied, outside the codec.
///
/// - *Threads:* Both functions are called on several threads at once: ``decode(_:for:)`` on those that decode images of
///   all formats, ``header(of:)`` on any, Swift's cooperative pool included. They compute, and neither wait nor read
///   files.
/// - *Limits:* The header's size and frames are checked against ``DecodeLimits`` before ``decode(_:for:)`` is called,
///   and its memory is reserved. Bytes come from strangers: the codec must expect any of them. ``decode(_:for:)`` calls
///   ``ImageCodecTask/checkpoint()`` every few milliseconds, which throws when the decode is cancelled or has used up
///   its time.
/// - *Pixels:* The alpha of opaque pixels is 255, and premultiplied colours do not exceed alpha.
/// - *Errors:* `truncated` if bytes are missing, `corrupt` if they are wrong, `unsupportedFormat` for a variant that
///   the codec does not know. Errors of ``ImageCodecTask/checkpoint()`` are passed on.
public protocol ImageCodecPlugin: Sendable {
    /// The format.
    var format: ImageFormat { get }

    /// The first bytes of its files: one of these; each has 1 to 64 bytes.
    var signatures: [[UInt8]] { get }

    /// Parses the header of an image, without its pixels.
    ///
    /// - Parameter bytes: The beginning of the file, or all of it.
    /// - Returns: The header; `nil` if more bytes are needed.
    /// - Throws: An error if no further bytes could make the header valid.
    func header(of bytes: Span<UInt8>) throws(EideticError) -> ImageHeader?

    /// Decodes the pixels.
    ///
    /// - Parameters:
    ///   - bytes: The whole file, or with `progressive` what has come of it.
    ///   - task: The header, the requested size, and the check for cancellation.
    /// - Returns: The frames, or only the first one; all of the header's size, or all of one size from
    ///   ``ImageCodecTask/targetSize`` on.
    /// - Throws: The errors of the format, and those of ``ImageCodecTask/checkpoint()``.
    func decode(_ bytes: Span<UInt8>, for task: ImageCodecTask) throws(EideticError) -> [Image.Frame]

    /// Encodes an image, for `ImageEncoder` and `Image.encoded(as:quality:)`; called on the thread that encodes.
    ///
    /// A codec without this function only decodes.
    ///
    /// - Parameters:
    ///   - image: The image, decoded, in sRGB, and not larger than the `maximumSize` of `options`.
    ///   - options: The quality and the form of the file; a file above its `maximumByteCount` fails.
    /// - Returns: The encoded file.
    /// - Throws: `unsupportedFormat`, the default, or `encodingFailed`.
    func encode(_ image: Image, options: EncodeOptions) throws(EideticError) -> [UInt8]
}

extension ImageCodecPlugin {
    /// Throws `unsupportedFormat`: the codec only decodes.
    public func encode(_ image: Image, options: EncodeOptions) throws(EideticError) -> [UInt8] {
        throw EideticError(.unsupportedFormat, message: "the registered codec of \(format) decodes only")
    }
}

/// The input of a user's codec, apart from the bytes.
public struct ImageCodecTask {
    let task: DecodeTask

    /// The header that the codec has parsed.
    public var header: ImageHeader { task.header }

    /// The size in stored orientation that is needed; a codec that can decode to a smaller size saves time and memory.
    public var targetSize: PixelSize { task.targetSize }

    /// A Boolean value indicating whether all frames are needed, instead of the first one.
    public var needsAllFrames: Bool { task.decodesAllFrames }

    /// Throws `cancelled` if the decode was cancelled, and `limitExceeded` if it has used up its time.
    public func checkpoint() throws(EideticError) { try task.checkpoint() }
}

extension ImageDecoder {
    /// Adds a codec, for all pipelines, caches and decoders of this process.
    ///
    /// It replaces an earlier one of the same format. Call this before the first load: pipelines created before do not
    /// name the format in the requests that they send.
    public static func register(_ codec: some ImageCodecPlugin) { PluginCodec.register(codec) }

    /// The formats of the codecs that were added, in no order.
    public static var registeredFormats: [ImageFormat] { PluginCodec.formats }

    /// Removes the codec that was added for a format, as at the end of a test.
    ///
    /// Images that it is decoding are finished; those in memory stay. The codecs of this package cannot be removed.
    ///
    /// - Returns: `true` if there was one; otherwise, `false`.
    @discardableResult
    public static func unregister(_ format: ImageFormat) -> Bool { PluginCodec.unregister(format) }
}
