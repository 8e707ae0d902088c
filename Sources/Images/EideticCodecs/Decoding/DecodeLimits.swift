public import EideticCore

/// Limits on the resources that decoding an image may use.
///
/// An image beyond a limit is refused with `limitExceeded` before memory is allocated.
public struct DecodeLimits: Sendable, Hashable {
    /// The maximum size of a file.
    ///
    /// 256 MiB by default.
    public var encodedBytes = ByteCount.mebibytes(256)

    /// The maximum number of pixels of one frame as stored, whatever the target size.
    ///
    /// 2²⁷ by default, which is 134 million pixels or 512 MiB after decoding.
    public var pixels = 1 << 27

    /// The maximum width and height of one frame as stored, whatever the target size.
    ///
    /// 1,000,000 by default, as in libpng.
    public var sideLength = 1_000_000

    /// The maximum number of frames of an animation that is played.
    ///
    /// A still image of it is not limited. 5,000 by default.
    public var frames = 5_000

    /// The maximum memory of all decoded frames of an animation at the target size.
    ///
    /// 512 MiB by default.
    public var animationBytes = ByteCount.mebibytes(512)

    /// The maximum time that decoding one image may take, without the wait for memory.
    ///
    /// Checked every few rows, strips or frames. The libraries for HEIC, SVG and TIFF, and for single frames of AVIF
    /// and JPEG XL, cannot be interrupted: the decode fails at the limit all the same, and the library continues on a
    /// thread of its own, which decodes no other format. The other limits bound its time.
    ///
    /// 30 seconds by default.
    public var duration = Duration.seconds(30)

    /// Creates the default limits.
    public init() {}

    package static let standard = DecodeLimits()
}
