public import EideticCore

/// A change of a decoded image, made on a decoding thread; the result is cached under a key of its own.
///
/// Animations are left unchanged, unless the request has `transformAnimatedImage`; then each frame is changed.
public protocol ImageTransform: Sendable {
    /// The identity of the transform: equal keys must give equal images.
    var key: String { get }

    /// The size to which an image may be scaled, and cropped, before the transform is applied.
    ///
    /// The decoder then makes only the pixels that the transform needs. `nil` by default: the transform is applied to
    /// the image at full size. A request with a size of its own is decoded to that size instead.
    var decodeTarget: ImageTarget? { get }

    /// Returns the changed pixels; called on a decoding thread, never on the main one.
    ///
    /// The pixels are opaque or premultiplied, upright and in sRGB.
    func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer
}

extension ImageTransform {
    /// No size: the transform is applied to the image at full size.
    public var decodeTarget: ImageTarget? { nil }
}

/// A size to which an image is scaled, and the way in which that is done.
public struct ImageTarget: Hashable, Sendable {
    /// The size in upright pixels.
    public var size: PixelSize
    /// The way in which the image is fitted to the size.
    public var contentMode: ContentMode

    /// Creates a target.
    public init(size: PixelSize, contentMode: ContentMode = .fit) {
        self.size = size
        self.contentMode = contentMode
    }
}

/// Several transforms, applied one after the other.
public struct TransformChain: ImageTransform {
    /// The transforms in their order.
    package let transforms: [any ImageTransform]

    /// Creates a chain.
    public init(_ transforms: [any ImageTransform]) { self.transforms = transforms }

    /// The keys of all transforms in their order.
    public var key: String { transforms.map(\.key).joined(separator: "|") }

    /// The size to which an image may be scaled before the first transform is applied.
    public var decodeTarget: ImageTarget? { transforms.first?.decodeTarget }

    /// Applies all transforms in their order.
    public func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
        var pixels = pixels
        for transform in transforms { pixels = try transform.apply(to: pixels) }
        return pixels
    }
}

extension ImageTransform {
    /// Returns an image with all frames changed.
    ///
    /// - Throws: `cancelled` between two frames if `context` is cancelled.
    package func apply(to image: Image, context: JobContext? = nil) throws(EideticError) -> Image {
        let image = try image.decodedSynchronously()
        var frames: [Image.Frame] = []
        for frame in image.frames {
            try context?.checkCancellation()
            frames.append(Image.Frame(pixels: try apply(to: frame.pixels), duration: frame.duration))
        }
        return image.replacingFrames(frames)
    }
}
