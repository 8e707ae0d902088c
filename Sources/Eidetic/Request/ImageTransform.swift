public import EideticCore

/// Changes a picture after it was decoded, on the decoding side; the result is cached under its own key (L13).
///
/// Animated pictures are left as they are, unless the request has `transformAnimatedImage`; then each frame is changed.
public protocol ImageTransform: Sendable {
    /// What tells this change from others: equal keys must give equal pictures.
    var key: String { get }

    /// Makes the changed pixels; called on a decoding thread, never on the main one.
    func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer
}

/// Several changes one after the other.
public struct TransformChain: ImageTransform {
    /// The changes in their order.
    public let transforms: [any ImageTransform]

    /// Creates a chain.
    public init(_ transforms: [any ImageTransform]) { self.transforms = transforms }

    /// The keys of all, in their order.
    public var key: String { transforms.map(\.key).joined(separator: "|") }

    /// Applies all, in their order.
    public func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
        var pixels = pixels
        for transform in transforms { pixels = try transform.apply(to: pixels) }
        return pixels
    }
}

extension ImageTransform {
    /// The picture with all frames changed; throws `cancelled` between two of them where `context` is.
    func apply(to image: Image, context: JobContext? = nil) throws(EideticError) -> Image {
        let image = try image.decodedSynchronously()
        var frames: [Image.Frame] = []
        for frame in image.frames {
            try context?.checkCancellation()
            frames.append(Image.Frame(pixels: try apply(to: frame.pixels), duration: frame.duration))
        }
        return Image(
            frames: frames,
            loopCount: image.loopCount,
            format: image.format,
            sourceSize: image.sourceSize,
            scale: image.scale,
            isPartial: image.isPartial
        )
    }
}
