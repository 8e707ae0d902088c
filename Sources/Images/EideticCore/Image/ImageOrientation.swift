/// The transformation that turns stored pixels upright.
///
/// - SeeAlso: Exif 2.32, tag 274.
package enum ImageOrientation: Int, Sendable, CaseIterable {
    /// Already upright.
    case up = 1
    /// Mirrored left to right.
    case upMirrored
    /// Rotated by 180°.
    case down
    /// Mirrored top to bottom.
    case downMirrored
    /// Mirrored along the diagonal from the upper left to the lower right.
    case leftMirrored
    /// Needs a rotation by 90° clockwise.
    case right
    /// Mirrored along the diagonal from the upper right to the lower left.
    case rightMirrored
    /// Needs a rotation by 90° counter-clockwise.
    case left

    /// Creates an orientation from an Exif value; 0 and values out of range mean `up`.
    package init(exif value: Int) { self = ImageOrientation(rawValue: value) ?? .up }

    /// A Boolean value indicating whether the transformation exchanges width and height.
    package var swapsDimensions: Bool { rawValue >= 5 }
}
