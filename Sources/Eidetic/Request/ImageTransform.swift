public import EideticCore

/// A change of a decoded image, made on a decoding thread; the result is cached under a key of its own.
///
/// Animations are left unchanged, unless the request has `transformAnimatedImage`; then each frame is changed.
public protocol ImageTransform: Sendable {
    /// The identity of the transform: equal keys must give equal images.
    var key: String { get }

    /// Returns the changed pixels; called on a decoding thread, never on the main one.
    func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer
}

/// Several transforms, applied one after the other.
public struct TransformChain: ImageTransform {
    /// The transforms in their order.
    package let transforms: [any ImageTransform]

    /// Creates a chain.
    public init(_ transforms: [any ImageTransform]) { self.transforms = transforms }

    /// The keys of all transforms in their order.
    public var key: String { transforms.map(\.key).joined(separator: "|") }

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
    func apply(to image: Image, context: JobContext? = nil) throws(EideticError) -> Image {
        let image = try image.decodedSynchronously()
        var frames: [Image.Frame] = []
        for frame in image.frames {
            try context?.checkCancellation()
            frames.append(Image.Frame(pixels: try apply(to: frame.pixels), duration: frame.duration))
        }
        return image.replacingFrames(frames)
    }
}
