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
    /// Of a loaded animation ``frames`` has the first frame only, and the others are decoded while it plays; with
    /// `preloadAllFrames` they are decoded already, and stand in ``frames`` too.
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

    /// The memory that the image occupies, which is its cost in a memory cache: that of all frames, or of an animation
    /// what its window may keep, and its encoded bytes.
    ///
    /// For an image that was loaded with `avoidDecode`: the memory that it will occupy, and the encoded bytes that it
    /// keeps.
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
    /// `false` only for an image that was loaded with `avoidDecode` and is not yet used, or cannot be decoded.
    public var isDecoded: Bool { deferred?.isDecoded ?? true }

    /// Returns the image with its pixels, decoded on another thread and coalesced with other requests for it.
    ///
    /// - Throws: The decoding error, the same each time; `cancelled` as soon as the task is cancelled.
    public func decoded() async throws(EideticError) -> Image { try await deferred?.imageAsynchronously() ?? self }

    /// Returns the image with its pixels, decoded on the calling thread if necessary; throws the decoding error.
    package func decodedSynchronously() throws(EideticError) -> Image { try deferred?.image() ?? self }
}

extension Image: CustomStringConvertible {
    /// The format and size on one line, as in `gif 400x300 of 800x600, 12 frames`.
    ///
    /// The size of the encoded image, the number of frames, the scale, and the fact that a part is missing appear if
    /// they are not the usual ones. A deferred image is not decoded.
    public var description: String {
        let size = size == sourceSize ? "\(format) \(size)" : "\(format) \(size) of \(sourceSize)"
        let details = [
            isAnimated ? "\(streamed?.frameCount ?? frames.count) frames" : nil, scale == 1 ? nil : "scale \(scale)",
            isPartial ? "partial" : nil,
        ]
        return ([size] + details.compactMap(\.self)).joined(separator: ", ")
    }
}
