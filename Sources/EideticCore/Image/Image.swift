/// A decoded picture: one frame, or several that play one after the other.
public struct Image: Sendable {
    /// One picture of an animation.
    public struct Frame: Sendable {
        /// The whole picture at this moment, already composed.
        public let pixels: PixelBuffer
        /// How long it is shown; zero for a still picture.
        public let duration: Duration

        /// Creates a frame.
        public init(pixels: PixelBuffer, duration: Duration = .zero) {
            self.pixels = pixels
            self.duration = duration
        }
    }

    /// The frames; at least one, and all of one size.
    public let frames: [Frame]

    /// How often an animation plays: `nil` for ever, 1 for a still picture.
    public let loopCount: Int?

    /// The format it was decoded from.
    public let format: ImageFormat

    /// The size of the original when upright; larger than ``size`` where it was decoded to a smaller one.
    public let sourceSize: PixelSize

    /// Pixels per point, as "@2x" in a name says; 1 by default.
    public let scale: Double

    /// Whether more of the picture was still to come when it was decoded.
    public let isPartial: Bool

    /// The bytes of the encoded picture; zero where it was not decoded from any.
    public package(set) var encodedSize = ByteCount.zero

    /// A checksum of the encoded picture; `nil` where it was not decoded from any.
    package var encodedChecksum: UInt64?

    /// Creates a picture.
    ///
    /// - Precondition: There is at least one frame.
    public init(
        frames: [Frame],
        loopCount: Int? = 1,
        format: ImageFormat,
        sourceSize: PixelSize,
        scale: Double = 1,
        isPartial: Bool = false
    ) {
        precondition(!frames.isEmpty)
        self.frames = frames
        self.loopCount = loopCount
        self.format = format
        self.sourceSize = sourceSize
        self.scale = scale
        self.isPartial = isPartial
    }

    /// The first frame's pixels.
    public var pixels: PixelBuffer { frames[0].pixels }

    /// The size in pixels.
    public var size: PixelSize { pixels.size }

    /// Whether there is more than one frame.
    public var isAnimated: Bool { frames.count > 1 }

    /// The memory that all frames take; what a cache charges (C01).
    public var cost: ByteCount { frames.reduce(.zero) { $0 + $1.pixels.byteCount } }
}

/// Where a picture came from (L09).
public enum ImageSource: String, Sendable, Hashable {
    /// The memory cache.
    case memory
    /// The disk cache.
    case disk
    /// The tier that several machines share.
    case shared
    /// The network.
    case network
}
