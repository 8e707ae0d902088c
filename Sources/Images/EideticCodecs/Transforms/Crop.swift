package import EideticCore

extension ImageTransforms {
    /// Cuts a rectangle out of the image.
    package struct Crop: ImageTransform {
        /// The rectangle; what lies outside of the image is ignored.
        package let area: PixelRect

        package init(_ area: PixelRect) { self.area = area }

        package var key: String { "crop \(area)" }

        /// Copies the rectangle.
        ///
        /// - Throws: `invalidArgument` if no pixel of the image is inside, `outOfMemory`.
        package func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
            let columns = Self.range(from: area.x, count: area.size.width, in: pixels.size.width)
            let rows = Self.range(from: area.y, count: area.size.height, in: pixels.size.height)
            guard !columns.isEmpty, !rows.isEmpty else {
                throw EideticError(
                    .invalidArgument,
                    message: "cannot crop \(area): it is outside of the image of \(pixels.size) pixels"
                )
            }
            return try pixels.cropped(
                to: PixelRect(x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
            )
        }

        private static func range(from start: Int, count: Int, in length: Int) -> Range<Int> {
            let (end, overflow) = start.addingReportingOverflow(max(0, count))
            return (start..<max(start, overflow ? .max : end)).clamped(to: 0..<length)
        }
    }

    /// Mirrors the image.
    package struct Flip: ImageTransform {
        /// A Boolean value indicating whether left and right are exchanged.
        package let horizontal: Bool
        /// A Boolean value indicating whether top and bottom are exchanged.
        package let vertical: Bool

        /// Creates the transform; by default left and right are exchanged.
        package init(horizontal: Bool = true, vertical: Bool = false) {
            self.horizontal = horizontal
            self.vertical = vertical
        }

        package var key: String { "flip\(horizontal ? " horizontal" : "")\(vertical ? " vertical" : "")" }

        /// Mirrors the image.
        ///
        /// - Throws: `outOfMemory`.
        package func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
            switch (horizontal, vertical) {
            case (false, false): pixels
            case (true, false): try pixels.oriented(.upMirrored)
            case (false, true): try pixels.oriented(.downMirrored)
            case (true, true): try pixels.oriented(.down)
            }
        }
    }
}
