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
    ///
    /// Those of a picture that was delivered with `avoidDecode` are made when they are first used, by the thread that
    /// uses them; where that fails they are transparent. ``decoded()`` does it elsewhere, and says why it fails.
    public var frames: [Frame] { deferred?.frames ?? decodedFrames }

    /// The frames that were there from the beginning.
    private let decodedFrames: [Frame]

    /// What makes the frames; `nil` where they were there from the beginning.
    private let deferred: DeferredImage?

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
        decodedFrames = frames
        deferred = nil
        self.loopCount = loopCount
        self.format = format
        self.sourceSize = sourceSize
        self.scale = scale
        self.isPartial = isPartial
    }

    /// The first frame's pixels.
    public var pixels: PixelBuffer { frames[0].pixels }

    /// The size in pixels.
    public var size: PixelSize { deferred?.size ?? pixels.size }

    /// Whether there is more than one frame.
    public var isAnimated: Bool { decodedFrames.count > 1 }

    /// The memory that all frames take, or will take; what a cache charges (C01).
    ///
    /// With the encoded bytes, which a picture delivered with `avoidDecode` keeps.
    public var cost: ByteCount {
        guard let deferred else { return decodedFrames.reduce(.zero) { $0 + $1.pixels.byteCount } }
        return ByteCount(deferred.size.pixelCount * 4) + encodedSize
    }
}

// MARK: Pictures that are decoded when they are used
extension Image {
    /// Creates a picture of one frame, whose pixels are made when they are first used.
    package init(
        deferred: DeferredImage,
        loopCount: Int?,
        format: ImageFormat,
        sourceSize: PixelSize,
        scale: Double
    ) {
        decodedFrames = []
        self.deferred = deferred
        self.loopCount = loopCount
        self.format = format
        self.sourceSize = sourceSize
        self.scale = scale
        isPartial = false
    }

    /// Whether the pixels are there, so that using them takes no time.
    ///
    /// False only for a picture that was delivered with `avoidDecode` and was not used yet, or cannot be decoded.
    public var isDecoded: Bool { deferred?.isDecoded ?? true }

    /// The picture with its pixels, decoded on a thread for that, together with all who want the same.
    ///
    /// Throws what decoding throws, the same each time; `cancelled` as soon as the task is cancelled.
    public func decoded() async throws(EideticError) -> Image { try await deferred?.imageAsynchronously() ?? self }

    /// The picture with its pixels, decoded on the calling thread unless that was done; throws what decoding throws.
    public func decodedSynchronously() throws(EideticError) -> Image { try deferred?.image() ?? self }
}

/// Where a picture came from (L09).
public enum ImageSource: String, Sendable, Hashable {
    /// The memory cache.
    case memory
    /// The disk cache, or another place of this machine: a file, bytes that were given, a function of the caller's.
    case disk
    /// The tier that several machines share.
    case shared
    /// The network.
    case network
}
