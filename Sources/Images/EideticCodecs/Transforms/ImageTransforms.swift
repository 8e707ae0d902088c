public import EideticCore

/// The transforms that are included; ``TransformChain`` applies several of them in a row.
///
/// Lengths are pixels of the image to which a transform is applied. The result has the same bits on every processor.
public enum ImageTransforms {
    /// A transform that is included.
    public struct BuiltIn: ImageTransform {
        /// The transform that does the work.
        package let base: any ImageTransform

        init(_ base: some ImageTransform) { self.base = base }

        /// The identity of the transform.
        public var key: String { base.key }

        /// The size to which an image may be scaled before the transform is applied; that of a resize.
        public var decodeTarget: ImageTarget? { base.decodeTarget }

        /// Applies the transform.
        ///
        /// - Throws: `invalidArgument` if a value is out of range, `limitExceeded` if the result were larger than the
        ///   largest image that is decoded, `outOfMemory`.
        public func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer { try base.apply(to: pixels) }
    }
}

extension ImageTransform where Self == ImageTransforms.BuiltIn {
    /// Scales the image to a size; where it is the first transform, the image is decoded to that size.
    ///
    /// - Parameters:
    ///   - size: The size in pixels.
    ///   - contentMode: The way in which the image is fitted to the size; `fit` by default.
    ///   - upscales: A Boolean value indicating whether a small image is enlarged; false by default.
    /// - Returns: The transform.
    public static func resize(
        _ size: PixelSize,
        contentMode: ContentMode = .fit,
        upscales: Bool = false
    ) -> Self {
        Self(ImageTransforms.Resize(size, contentMode: contentMode, upscales: upscales))
    }

    /// Scales the image to a width; the height follows from its proportions.
    public static func resize(width: Int, upscales: Bool = false) -> Self {
        Self(ImageTransforms.Resize(width: width, upscales: upscales))
    }

    /// Scales the image to a height; the width follows from its proportions.
    public static func resize(height: Int, upscales: Bool = false) -> Self {
        Self(ImageTransforms.Resize(height: height, upscales: upscales))
    }

    /// Cuts a rectangle out of the image; what of it lies outside of the image is ignored.
    public static func crop(_ area: PixelRect) -> Self { Self(ImageTransforms.Crop(area)) }

    /// Makes corners round; what is outside of them becomes transparent.
    ///
    /// - Parameters:
    ///   - radius: The radius in pixels; at most half of the shorter side is used.
    ///   - corners: The corners that become round; all by default.
    ///   - border: The border inside the edge; none by default.
    /// - Returns: The transform.
    public static func roundedCorners(
        radius: Double,
        corners: ImageTransforms.Corners = .all,
        border: ImageTransforms.Border? = nil
    ) -> Self {
        Self(ImageTransforms.RoundedCorners(radius: radius, corners: corners, border: border))
    }

    /// Cuts the largest circle out of the middle of the image.
    public static func circle(border: ImageTransforms.Border? = nil) -> Self {
        Self(ImageTransforms.Circle(border: border))
    }

    /// Rotates the image clockwise around its centre.
    ///
    /// Quarter turns are exact; other angles are sampled from the four nearest pixels.
    ///
    /// - Parameters:
    ///   - degrees: The angle.
    ///   - expandsCanvas: A Boolean value indicating whether the image grows to show all corners; true by default.
    ///   - background: The colour of the pixels that the rotated image does not cover; transparent by default.
    /// - Returns: The transform.
    public static func rotation(
        degrees: Double,
        expandsCanvas: Bool = true,
        background: ImageColor = .clear
    ) -> Self {
        Self(ImageTransforms.Rotation(degrees: degrees, expandsCanvas: expandsCanvas, background: background))
    }

    /// Mirrors the image; by default left and right are exchanged.
    public static func flip(horizontal: Bool = true, vertical: Bool = false) -> Self {
        Self(ImageTransforms.Flip(horizontal: horizontal, vertical: vertical))
    }

    /// Mixes the colours of the image with a colour, whose alpha is the strength; transparent parts stay transparent.
    ///
    /// An opaque colour replaces all colours, as for icons.
    public static func tint(_ color: ImageColor) -> Self { Self(ImageTransforms.Tint(color)) }

    /// Removes the colours of the image, which keeps its luma (ITU-R BT.601).
    public static var grayscale: Self { Self(ImageTransforms.Grayscale()) }

    /// Blurs the image by a good approximation of a Gaussian filter with this standard deviation, in pixels.
    public static func gaussianBlur(radius: Double = 8) -> Self { Self(ImageTransforms.GaussianBlur(radius: radius)) }

    /// Sharpens the image: adds a part of its difference to a blurred copy (unsharp mask).
    ///
    /// - Parameters:
    ///   - amount: The part of the difference that is added, from 0 to 16; 1 by default.
    ///   - radius: The radius of the blur, in pixels; 1 by default.
    /// - Returns: The transform.
    public static func sharpening(amount: Double = 1, radius: Double = 1) -> Self {
        Self(ImageTransforms.Sharpening(amount: amount, radius: radius))
    }
}

extension ImageTransform where Self == ImageTransforms.Border {
    /// Draws a border inside the edge of the image.
    public static func border(width: Double = 1, color: ImageColor = .black) -> Self {
        Self(width: width, color: color)
    }
}
