import CPixels
package import EideticCore

extension ImageTransforms {
    package struct Corners: OptionSet, Hashable, Sendable {
        /// The corners as bits.
        package let rawValue: Int

        /// Creates a set from its bits.
        package init(rawValue: Int) { self.rawValue = rawValue }

        package static let topLeft = Corners(rawValue: 1)
        package static let topRight = Corners(rawValue: 2)
        package static let bottomLeft = Corners(rawValue: 4)
        package static let bottomRight = Corners(rawValue: 8)
        package static let all: Corners = [.topLeft, .topRight, .bottomLeft, .bottomRight]
    }

    /// Makes corners round; what is outside of them becomes transparent.
    package struct RoundedCorners: ImageTransform {
        /// The radius in pixels; at most half of the shorter side is used.
        package let radius: Double
        package let corners: Corners
        /// The border inside the edge.
        package let border: Border?

        /// Creates the transform; by default all corners become round, without a border.
        package init(radius: Double, corners: Corners = .all, border: Border? = nil) {
            self.radius = radius
            self.corners = corners
            self.border = border
        }

        package var key: String { "corners \(radius) \(corners.rawValue)\(border.map { " \($0.key)" } ?? "")" }

        /// Makes the corners round.
        ///
        /// - Throws: `invalidArgument` if a length is negative or not a number, `outOfMemory`.
        package func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
            let radii = (0..<4).map { corners.rawValue & 1 << $0 == 0 ? 0 : radius }
            return try pixels.framed(radii: radii, border: border ?? Border(width: 0))
        }
    }

    /// Cuts the largest circle out of the middle of the image.
    package struct Circle: ImageTransform {
        /// The border inside the edge.
        package let border: Border?

        /// Creates the transform; by default without a border.
        package init(border: Border? = nil) { self.border = border }

        package var key: String { "circle\(border.map { " \($0.key)" } ?? "")" }

        /// Cuts out the circle.
        ///
        /// - Throws: `invalidArgument` if the width of the border is negative or not a number, `outOfMemory`.
        package func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
            let side = min(pixels.size.width, pixels.size.height)
            let square = PixelSize(width: side, height: side)
            let middle = try pixels.cropped(to: PixelRect(of: square, in: pixels.size, around: (0.5, 0.5)))
            return try middle.framed(radii: Array(repeating: .infinity, count: 4), border: border ?? Border(width: 0))
        }
    }

    /// A border inside the edge of an image; by itself, that of a rectangle.
    package struct Border: ImageTransform, Hashable {
        /// The width in pixels.
        package let width: Double
        package let color: ImageColor

        /// Creates the transform; by default one black pixel.
        package init(width: Double = 1, color: ImageColor = .black) { (self.width, self.color) = (width, color) }

        /// Creates the border of a shape; `nil` if it has no width.
        init?(nonzeroWidth width: Double, color: ImageColor) {
            guard width != 0 else { return nil }
            self.init(width: width, color: color)
        }

        package var key: String { "border \(width) \(color)" }

        /// Draws the border.
        ///
        /// - Throws: `invalidArgument` if the width is negative or not a number, `outOfMemory`.
        package func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
            try pixels.framed(radii: [0, 0, 0, 0], border: self)
        }
    }
}

extension PixelBuffer {
    fileprivate func framed(radii: [Double], border: ImageTransforms.Border) throws(EideticError) -> PixelBuffer {
        guard border.width >= 0, radii.allSatisfy({ $0 >= 0 }) else {
            throw EideticError(.invalidArgument, message: "a radius or the width of a border is negative, or no number")
        }
        let radii = radii.map { min($0, Double(min(size.width, size.height)) / 2) }
        let color = border.color.premultiplied
        let isRound = radii.contains { $0 > 0 }
        guard isRound || border.width > 0 else { return self }
        var frame = eidetic_frame(
            radii: (radii[0], radii[1], radii[2], radii[3]),
            border: min(border.width, Double(max(size.width, size.height))),
            colour: (color[0], color[1], color[2], color[3])
        )
        return try modified(toAlpha: isRound ? .premultiplied : nil) { target in
            eidetic_pixels_frame(target, size.width, size.height, &frame)
        }
    }
}
