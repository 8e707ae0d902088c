/// A rectangle of pixels, whose origin is the top left of an upright image.
public struct PixelRect: Hashable, Sendable, CustomStringConvertible {
    /// The column of the first pixel.
    public var x: Int
    /// The row of the first pixel.
    public var y: Int
    /// The width and height.
    public var size: PixelSize

    /// Creates a rectangle.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        size = PixelSize(width: width, height: height)
    }

    /// The rectangle as text, as in `640x480+10+20`.
    public var description: String { "\(size)+\(x)+\(y)" }
}

extension PixelRect {
    /// Creates a rectangle of `size` inside an image of `whole`, with its centre as near to a point as the edges allow.
    ///
    /// - Precondition: `size` fits into `whole`.
    package init(of size: PixelSize, in whole: PixelSize, around point: (x: Double, y: Double)) {
        func origin(_ fraction: Double, length: Int, whole: Int) -> Int {
            let centre = (fraction.isNaN ? 0.5 : min(max(fraction, 0), 1)) * Double(whole)
            return min(max(0, Int((centre - Double(length) / 2).rounded())), whole - length)
        }
        x = origin(point.x, length: size.width, whole: whole.width)
        y = origin(point.y, length: size.height, whole: whole.height)
        self.size = size
    }
}
