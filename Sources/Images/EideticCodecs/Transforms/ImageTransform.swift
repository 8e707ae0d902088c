public import EideticCore

/// A change of a decoded image, made on a decoding thread; the result is cached under a key of its own.
///
/// Animations are left unchanged, unless the request has `transformAnimatedImage`; then each frame is changed.
public protocol ImageTransform: Sendable {
    /// The identity of the transform: equal keys must give equal images.
    var key: String { get }

    /// Returns the changed pixels; called on a decoding thread, never on the main one.
    ///
    /// The pixels are opaque or premultiplied, upright and in sRGB; they are those of the whole image, unless the
    /// request has a size, or a resize comes first in a ``TransformChain``.
    func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer
}

/// A transform that needs an image in one size only.
package protocol SizedTransform: ImageTransform {
    /// The size to which an image may be scaled, and cropped, before the transform is applied.
    ///
    /// The decoder then makes only the pixels that the transform needs. A request with a size of its own is decoded to
    /// that size instead.
    var decodeTarget: ImageTarget? { get }
}

extension ImageTransform {
    /// The size that the decoder may make for the transform; `nil` for the full size.
    package var neededTarget: ImageTarget? { (self as? any SizedTransform)?.decodeTarget }
}

/// A size to which an image is scaled, and the way in which that is done.
package struct ImageTarget: Hashable, Sendable {
    /// The size in upright pixels.
    package var size: PixelSize
    /// The way in which the image is fitted to the size.
    package var contentMode: ContentMode

    package init(size: PixelSize, contentMode: ContentMode = .fit) {
        self.size = size
        self.contentMode = contentMode
    }
}

/// One transform that is included, such as ``ImageTransform/circle(borderWidth:borderColor:)``, or several in a row.
///
/// Lengths are pixels of the image to which a transform is applied. The result of an included transform has the same
/// bits on every processor. Chains of one image that begin with the same transforms share their work: while they are
/// loaded, and if memory has an image that a load has asked for with the first of the transforms, or with none.
public struct TransformChain: ImageTransform {
    /// The transforms in their order; none of them is a chain.
    package let transforms: [any ImageTransform]

    /// Creates a chain.
    public init(_ transforms: [any ImageTransform]) {
        self.transforms = transforms.flatMap { ($0 as? TransformChain)?.transforms ?? [$0] }
    }

    /// The keys of all transforms in their order.
    public var key: String { transforms.map(\.key).joined(separator: "|") }

    /// Applies all transforms in their order.
    ///
    /// - Throws: The errors of the transforms; those that are included throw `invalidArgument` if a value is out of
    ///   range, `limitExceeded` if the result were larger than the largest image that is decoded, and `outOfMemory`.
    public func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
        var pixels = pixels
        for transform in transforms { pixels = try transform.apply(to: pixels) }
        return pixels
    }
}

extension TransformChain: SizedTransform {
    /// The size to which an image may be scaled before the first transform is applied.
    package var decodeTarget: ImageTarget? { transforms.first?.neededTarget }
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
            frames.append(Image.Frame(pixels: try apply(to: frame.pixels.expanded()), duration: frame.duration))
        }
        return image.replacingFrames(frames)
    }
}
