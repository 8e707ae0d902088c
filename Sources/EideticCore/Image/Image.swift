/// A decoded image: a single frame, or the frames of an animation.
public struct Image: Sendable {
    /// A frame of an image.
    public struct Frame: Sendable {
        /// The complete pixels of the frame, already composed with earlier frames.
        public let pixels: PixelBuffer
        /// The time for which the frame is displayed; zero for a still image.
        public let duration: Duration

        /// Creates a frame.
        public init(pixels: PixelBuffer, duration: Duration = .zero) {
            self.pixels = pixels
            self.duration = duration
        }
    }

    /// The frames; at least one, all of the same size.
    ///
    /// The frames of an image that was loaded with `avoidDecode` are decoded on first use, by the thread that uses
    /// them; if that fails they are transparent. ``decoded()`` decodes on another thread and throws the error.
    public var frames: [Frame] { deferred?.frames ?? decodedFrames }

    /// The frames of an image that was created decoded.
    private let decodedFrames: [Frame]

    /// The decoder of an image that is decoded on first use; `nil` if it was created decoded.
    private let deferred: DeferredImage?

    /// Everything but the frames.
    package var attributes: Attributes

    /// Creates an image.
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
        attributes = Attributes(
            loopCount: loopCount,
            format: format,
            sourceSize: sourceSize,
            scale: scale,
            isPartial: isPartial
        )
    }

    /// The pixels of the first frame.
    public var pixels: PixelBuffer { frames[0].pixels }

    /// The size in pixels.
    public var size: PixelSize { deferred?.size ?? pixels.size }

    /// A Boolean value indicating whether the image has more than one frame.
    public var isAnimated: Bool { decodedFrames.count > 1 }

    /// The memory that all frames occupy, which is the cost in a memory cache.
    ///
    /// For an image that was loaded with `avoidDecode`: the memory that it will occupy, and the encoded bytes that it
    /// keeps.
    public var cost: ByteCount {
        guard let deferred else { return decodedFrames.reduce(.zero) { $0 + $1.pixels.byteCount } }
        return ByteCount(deferred.size.pixelCount * 4) + encodedSize
    }
}

// MARK: Deferred decoding
extension Image {
    /// Creates an image of one frame that is decoded on first use.
    package init(
        deferred: DeferredImage,
        loopCount: Int?,
        format: ImageFormat,
        sourceSize: PixelSize,
        scale: Double
    ) {
        decodedFrames = []
        self.deferred = deferred
        attributes = Attributes(loopCount: loopCount, format: format, sourceSize: sourceSize, scale: scale)
    }

    /// A Boolean value indicating whether the pixels are decoded, so that using them takes no time.
    ///
    /// `false` only for an image that was loaded with `avoidDecode` and is not yet used, or cannot be decoded.
    public var isDecoded: Bool { deferred?.isDecoded ?? true }

    /// Returns the image with its pixels, decoded on another thread and coalesced with other requests for it.
    ///
    /// - Throws: The decoding error, the same each time; `cancelled` as soon as the task is cancelled.
    public func decoded() async throws(EideticError) -> Image { try await deferred?.imageAsynchronously() ?? self }

    /// Returns the image with its pixels, decoded on the calling thread if necessary; throws the decoding error.
    package func decodedSynchronously() throws(EideticError) -> Image { try deferred?.image() ?? self }
}
