/// A decoded image: a single frame, or the frames of an animation.
public struct Image: Sendable {
    /// A frame of an image.
    public struct Frame: Sendable {
        /// The complete pixels of the frame, already composed with earlier frames.
        public let pixels: PixelBuffer
        /// The display time of the frame; zero for a still image.
        public let duration: Duration

        /// Creates a frame.
        public init(pixels: PixelBuffer, duration: Duration = .zero) {
            self.pixels = pixels
            self.duration = duration
        }
    }

    /// The frames; at least one, all of the same size.
    ///
    /// The frames of an image loaded with `avoidDecode` are decoded on first use, on the calling thread; if that fails,
    /// they are transparent. ``decoded()`` decodes on another thread, and throws the error.
    public var frames: [Frame] { deferred?.frames ?? decodedFrames }

    private let decodedFrames: [Frame]

    /// The decoder of an image that is decoded on first use; `nil` if it was created decoded.
    private let deferred: DeferredImage?

    /// The animation that the image is the first frame of; `nil` if all frames are decoded.
    private var streamedAnimation: AnimatedImage?

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

    /// A Boolean value indicating whether the image is an animation.
    public var isAnimated: Bool { decodedFrames.count > 1 || streamedAnimation != nil }

    /// The animation; `nil` for a still image.
    ///
    /// For a loaded animation ``frames`` contains only the first frame, and the others are decoded while it plays. With
    /// `preloadAllFrames` all frames are decoded, and ``frames`` contains them.
    public var animation: AnimatedImage? {
        if let streamedAnimation { return streamedAnimation }
        return decodedFrames.count > 1 ? AnimatedImage(frames: decodedFrames, attributes: attributes) : nil
    }

    /// The animation whose frames are decoded while it plays; `nil` if all frames are decoded.
    package var streamed: AnimatedImage? { streamedAnimation }

    /// Returns the image as the first frame of an animation.
    ///
    /// - Precondition: The image has one frame, and is not deferred.
    package func playing(_ animation: AnimatedImage?) -> Image {
        precondition(decodedFrames.count == 1)
        var image = self
        image.streamedAnimation = animation
        return image
    }

    /// The memory that the image occupies, which is its cost in a memory cache.
    ///
    /// It is the memory of all frames; for an animation that of its window of frames and of its encoded bytes; for an
    /// image loaded with `avoidDecode` that of the decoded pixels to come and of its encoded bytes.
    public var cost: ByteCount {
        if let streamedAnimation { return streamedAnimation.cost }
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
    /// `false` only for an image loaded with `avoidDecode` that was not used yet or cannot be decoded.
    public var isDecoded: Bool { deferred?.isDecoded ?? true }

    /// Returns the image with its pixels, decoded on another thread and coalesced with other requests for it.
    ///
    /// - Throws: The decoding error, the same each time; `cancelled` as soon as the task is cancelled.
    nonisolated(nonsending) public func decoded() async throws(EideticError) -> Image {
        try await deferred?.imageAsynchronously() ?? self
    }

    /// Returns the image with its pixels, decoded on the calling thread if necessary; throws the decoding error.
    package func decodedSynchronously() throws(EideticError) -> Image { try deferred?.image() ?? self }
}

extension Image: CustomStringConvertible {
    /// The format and size on one line, as in `gif 400x300 of 800x600, 12 frames`.
    ///
    /// The size of the encoded image, the number of frames, the scale, and whether the image is partial appear if they
    /// differ from the usual values. A deferred image is not decoded.
    public var description: String {
        let size = size == sourceSize ? "\(format) \(size)" : "\(format) \(size) of \(sourceSize)"
        let details = [
            isAnimated ? "\(streamed?.frameCount ?? frames.count) frames" : nil, scale == 1 ? nil : "scale \(scale)",
            isPartial ? "partial" : nil,
        ]
        return ([size] + details.compactMap(\.self)).joined(separator: ", ")
    }
}
