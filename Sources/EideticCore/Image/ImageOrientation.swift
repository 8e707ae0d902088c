/// How stored pixels are turned to be upright.
///
/// - SeeAlso: Exif 2.32, tag 274.
public enum ImageOrientation: Int, Sendable, CaseIterable {
    /// As stored.
    case up = 1
    /// Mirrored left to right.
    case upMirrored
    /// Turned by 180°.
    case down
    /// Mirrored top to bottom.
    case downMirrored
    /// Mirrored along the diagonal from the upper left to the lower right.
    case leftMirrored
    /// To be turned by 90° clockwise.
    case right
    /// Mirrored along the other diagonal.
    case rightMirrored
    /// To be turned by 90° counter-clockwise.
    case left

    /// Reads an EXIF value; 0 and all that is out of range means `up`.
    public init(exif value: Int) { self = ImageOrientation(rawValue: value) ?? .up }

    /// Whether turning exchanges width and height.
    public var swapsDimensions: Bool { rawValue >= 5 }
}
