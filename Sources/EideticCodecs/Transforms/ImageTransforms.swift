public import EideticCore

/// The transforms that are included; ``TransformChain`` applies several of them in a row.
///
/// Lengths are pixels of the image to which a transform is applied. The result has the same bits on every processor.
public enum ImageTransforms {}

extension ImageTransform where Self == ImageTransforms.Resize {
    /// Scales the image to a size; see ``ImageTransforms/Resize``.
    public static func resize(
        _ size: PixelSize,
        contentMode: ContentMode = .fit,
        cropFocus: CropFocus = .center,
        upscales: Bool = false
    ) -> Self {
        Self(size, contentMode: contentMode, cropFocus: cropFocus, upscales: upscales)
    }
}

extension ImageTransform where Self == ImageTransforms.Crop {
    /// Cuts a rectangle out of the image.
    public static func crop(_ area: PixelRect) -> Self { Self(area) }
}

extension ImageTransform where Self == ImageTransforms.RoundedCorners {
    /// Makes the corners round; see ``ImageTransforms/RoundedCorners``.
    public static func roundedCorners(
        radius: Double,
        corners: ImageTransforms.Corners = .all,
        border: ImageTransforms.Border? = nil
    ) -> Self {
        Self(radius: radius, corners: corners, border: border)
    }
}

extension ImageTransform where Self == ImageTransforms.Circle {
    /// Cuts the largest circle out of the middle of the image.
    public static func circle(border: ImageTransforms.Border? = nil) -> Self { Self(border: border) }
}

extension ImageTransform where Self == ImageTransforms.Border {
    /// Draws a border inside the edge of the image.
    public static func border(width: Double = 1, color: ImageColor = .black) -> Self {
        Self(width: width, color: color)
    }
}

extension ImageTransform where Self == ImageTransforms.Rotation {
    /// Rotates the image clockwise; see ``ImageTransforms/Rotation``.
    public static func rotation(
        degrees: Double,
        expandsCanvas: Bool = true,
        background: ImageColor = .clear
    ) -> Self {
        Self(degrees: degrees, expandsCanvas: expandsCanvas, background: background)
    }
}

extension ImageTransform where Self == ImageTransforms.Flip {
    /// Mirrors the image; by default left and right are exchanged.
    public static func flip(horizontal: Bool = true, vertical: Bool = false) -> Self {
        Self(horizontal: horizontal, vertical: vertical)
    }
}

extension ImageTransform where Self == ImageTransforms.Tint {
    /// Mixes the colours of the image with a colour.
    public static func tint(_ color: ImageColor) -> Self { Self(color) }
}

extension ImageTransform where Self == ImageTransforms.Grayscale {
    /// Removes the colours of the image.
    public static var grayscale: Self { Self() }
}

extension ImageTransform where Self == ImageTransforms.GaussianBlur {
    /// Blurs the image.
    public static func gaussianBlur(radius: Double = 8) -> Self { Self(radius: radius) }
}

extension ImageTransform where Self == ImageTransforms.Sharpening {
    /// Sharpens the image.
    public static func sharpening(amount: Double = 1, radius: Double = 1) -> Self {
        Self(amount: amount, radius: radius)
    }
}
