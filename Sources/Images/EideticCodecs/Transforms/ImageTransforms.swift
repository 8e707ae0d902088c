public import EideticCore

/// The transforms that are included; the functions of ``ImageTransform`` make them.
package enum ImageTransforms {}

extension TransformChain {
    fileprivate init(_ transform: some ImageTransform) { self.init([transform]) }
}

extension ImageTransform where Self == TransformChain {
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

    /// Scales the image to a width or a height; the other side follows from its proportions.
    ///
    /// If both are given, the image fits into both.
    public static func resize(width: Int? = nil, height: Int? = nil, upscales: Bool = false) -> Self {
        Self(ImageTransforms.Resize(width: width, height: height, upscales: upscales))
    }

    /// Cuts a rectangle out of the image; what of it lies outside of the image is ignored.
    public static func crop(_ area: PixelRect) -> Self { Self(ImageTransforms.Crop(area)) }

    /// Makes corners round; what is outside of them becomes transparent.
    ///
    /// - Parameters:
    ///   - radius: The radius in pixels; at most half of the shorter side is used.
    ///   - topLeft: A Boolean value indicating whether this corner becomes round; true by default, like the others.
    ///   - topRight: The same for the corner at the top right.
    ///   - bottomLeft: The same for the corner at the bottom left.
    ///   - bottomRight: The same for the corner at the bottom right.
    ///   - borderWidth: The width of a border inside the edge, in pixels; 0 by default, for none.
    ///   - borderColor: The colour of the border; black by default.
    /// - Returns: The transform.
    public static func roundedCorners(
        radius: Double,
        topLeft: Bool = true,
        topRight: Bool = true,
        bottomLeft: Bool = true,
        bottomRight: Bool = true,
        borderWidth: Double = 0,
        borderColor: ImageColor = .black
    ) -> Self {
        typealias Corners = ImageTransforms.Corners
        let corners: [(Bool, Corners)] = [
            (topLeft, .topLeft), (topRight, .topRight), (bottomLeft, .bottomLeft), (bottomRight, .bottomRight),
        ]
        let round = corners.reduce(into: Corners()) { if $1.0 { $0.insert($1.1) } }
        let border = ImageTransforms.Border(nonzeroWidth: borderWidth, color: borderColor)
        return Self(ImageTransforms.RoundedCorners(radius: radius, corners: round, border: border))
    }

    /// Cuts the largest circle out of the middle of the image.
    ///
    /// - Parameters:
    ///   - borderWidth: The width of a border inside the edge, in pixels; 0 by default, for none.
    ///   - borderColor: The colour of the border; black by default.
    /// - Returns: The transform.
    public static func circle(borderWidth: Double = 0, borderColor: ImageColor = .black) -> Self {
        Self(ImageTransforms.Circle(border: ImageTransforms.Border(nonzeroWidth: borderWidth, color: borderColor)))
    }

    /// Draws a border inside the edge of the image.
    public static func border(width: Double = 1, color: ImageColor = .black) -> Self {
        Self(ImageTransforms.Border(width: width, color: color))
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
