/// The properties of an animation, as far as its bytes have arrived.
package struct AnimationInfo: Sendable, Hashable {
    package var format: ImageFormat
    /// The size of each frame as it is delivered.
    package var size: PixelSize
    /// The size of the encoded animation when upright.
    package var sourceSize: PixelSize
    /// The durations of the frames that can be decoded, as they are played: below 11 ms they are 100 ms.
    package var durations: [Duration]
    /// The number of times that the animation plays; `nil` means forever.
    package var loopCount: Int?
    /// A Boolean value indicating whether no more frames will come.
    package var isComplete: Bool

    package init(
        format: ImageFormat,
        size: PixelSize,
        sourceSize: PixelSize,
        durations: [Duration],
        loopCount: Int?,
        isComplete: Bool
    ) {
        self.format = format
        self.size = size
        self.sourceSize = sourceSize
        self.durations = durations
        self.loopCount = loopCount
        self.isComplete = isComplete
    }

    package var frameCount: Int { durations.count }
}

/// A decoder of single frames of one animation.
///
/// It owns the encoded bytes that it was given, and nothing of the caller's. A frame is complete: composed with earlier
/// ones, at the requested size, upright, in sRGB and premultiplied.
///
/// - *Threads:* One call at a time, on any thread that may block; the caller sees to that.
/// - *Errors:* An error of ``frame(at:context:)`` concerns that frame and those after it; the source stays usable for
///   the frames before. `cancelled`, `limitExceeded`, `outOfMemory` and `sandboxUnavailable` concern that call only.
package protocol FrameSource: AnyObject, Sendable {
    /// The properties of the animation from the bytes so far.
    var info: AnimationInfo { get }

    /// The most memory that the source keeps between two calls: encoded bytes, canvases and copies of them.
    var retainedByteLimit: Int { get }

    /// Adds bytes that have arrived.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that follow those so far; may be empty.
    ///   - isComplete: `true` if no more bytes follow.
    /// - Returns: The properties from all bytes so far.
    /// - Throws: `corrupt` or `limitExceeded` if the new bytes cannot be used; frames before them still can.
    func append(_ bytes: [UInt8], isComplete: Bool) throws(EideticError) -> AnimationInfo

    /// Returns the first of the frames that are drawn in order to decode a frame.
    ///
    /// - Returns: The index; `index` itself if no others are drawn, or if it is not known which.
    func firstFrameDrawn(for index: Int) -> Int

    /// Decodes a frame.
    ///
    /// The next frame costs one frame; one that lies before costs the frames since the last one that stands alone, or
    /// since the last copy of the canvas.
    ///
    /// - Parameters:
    ///   - index: The index of the frame, less than ``AnimationInfo/frameCount``.
    ///   - context: Cancels the call.
    /// - Returns: The frame.
    /// - Throws: `truncated`, `corrupt`, `limitExceeded`, `outOfMemory` or `cancelled`.
    func frame(at index: Int, context: JobContext) throws(EideticError) -> PixelBuffer
}

extension FrameSource {
    package func firstFrameDrawn(for index: Int) -> Int { index }
}
