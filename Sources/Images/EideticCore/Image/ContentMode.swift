/// The way in which an image is scaled to a target size; it is never enlarged.
public enum ContentMode: String, Hashable, Sendable {
    /// The whole image, in its proportions: neither side is longer than the target's.
    case fit
    /// The target's proportions: the image covers the target, and what projects is cropped around a ``CropFocus``.
    case fill
    /// The whole image, in its proportions: neither side is shorter than the target's, unless the image is smaller.
    case aspectFill
    /// The whole image in the target's proportions, distorted where its own are different.
    case stretch
}

/// The part of an image that stays in view when the image is cropped.
public enum CropFocus: Hashable, Sendable {
    /// The point nearest to the centre of the crop, in fractions of the upright width and height from the top left.
    ///
    /// Coordinates outside 0 to 1 are those of the nearest edge.
    case point(x: Double, y: Double)
    /// The part with most edges, saturated colours and skin, which is found by arithmetic alone.
    case content

    /// The centre of the image.
    public static let center = CropFocus.point(x: 0.5, y: 0.5)
}
