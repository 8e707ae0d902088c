public import EideticCore

/// What a picture may ask for, at the most; more is refused with `limitExceeded` before memory is taken (F07).
public struct DecodeLimits: Sendable, Hashable {
    /// The largest file.
    ///
    /// 256 MiB by default.
    public var encodedBytes = ByteCount.mebibytes(256)

    /// The most pixels of one frame as stored, whatever size is wanted of it.
    ///
    /// 2²⁷ by default, which is 134 million: 512 MiB when decoded.
    public var pixels = 1 << 27

    /// The most frames that a file may hold.
    ///
    /// 5,000 by default.
    public var frames = 5_000

    /// The most memory of all decoded frames of an animation, at the size that is asked for.
    ///
    /// 512 MiB by default.
    public var animationBytes = ByteCount.mebibytes(512)

    /// The longest time that decoding one picture may take, without waiting for its turn.
    ///
    /// Looked at every few rows, strips or frames. HEIC, SVG, and each frame of AVIF and JPEG XL are decoded by their
    /// libraries in one go, which ends late; there the other limits have to do.
    ///
    /// 30 seconds by default.
    public var duration = Duration.seconds(30)

    /// Creates the default limits.
    public init() {}

    /// The default limits.
    public static let standard = DecodeLimits()
}
