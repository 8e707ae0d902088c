import EideticCore

/// A bitmap of opaque pixels.
struct Canvas {
    /// A rectangle on a canvas.
    struct Area {
        var x: Int
        var y: Int
        var width: Int
        var height: Int

        /// Returns the rectangle with a margin around it, or inset if `margin` is negative.
        func expanded(by margin: Int) -> Area {
            Area(x: x - margin, y: y - margin, width: width + 2 * margin, height: height + 2 * margin)
        }
    }

    /// Red, green, blue and an unused byte.
    typealias Color = SIMD4<UInt8>

    let size: PixelSize
    private var bytes: [UInt8]

    /// Creates a canvas filled with one colour.
    init(size: PixelSize, color: Color) {
        self.size = size
        bytes = [UInt8](repeating: 255, count: size.pixelCount * 4)
        fill(Area(x: 0, y: 0, width: size.width, height: size.height), with: color)
    }

    mutating func fill(_ area: Area, with color: Color) {
        let rows = max(0, area.y)..<max(0, area.y, min(size.height, area.y + area.height))
        let columns = max(0, area.x)..<max(0, area.x, min(size.width, area.x + area.width))
        let width = size.width
        bytes.withUnsafeMutableBytes { bytes in
            for y in rows {
                for x in columns { bytes.storeBytes(of: color, toByteOffset: 4 * (y * width + x), as: Color.self) }
            }
        }
    }

    /// Draws text, with its upper left corner at the given position; what lies beside the canvas is left out.
    mutating func draw(_ text: Substring, x: Int, y: Int, scale: Int, color: Color) {
        for (index, character) in text.enumerated() {
            for (column, bits) in BitmapFont.columns(of: character).enumerated() {
                for row in 0..<BitmapFont.height where bits >> row & 1 == 1 {
                    let left = x + scale * (index * BitmapFont.advance + column)
                    fill(Area(x: left, y: y + scale * row, width: scale, height: scale), with: color)
                }
            }
        }
    }

    /// Draws an image over the canvas, with its upper left corner at the given position.
    ///
    /// - Precondition: The image lies within the canvas.
    mutating func draw(_ pixels: PixelBuffer, x: Int, y: Int) {
        precondition(x >= 0 && y >= 0 && x + pixels.size.width <= size.width && y + pixels.size.height <= size.height)
        let width = size.width
        bytes.withUnsafeMutableBytes { target in
            pixels.withUnsafeBytes { source in
                for row in 0..<pixels.size.height {
                    for column in 0..<pixels.size.width {
                        let from = row * pixels.bytesPerRow + 4 * column
                        let to = 4 * ((y + row) * width + x + column)
                        let below = target.loadUnaligned(fromByteOffset: to, as: Color.self)
                        let above = source.loadUnaligned(fromByteOffset: from, as: Color.self)
                        let blended = Self.blend(above, alpha: pixels.alpha, over: below)
                        target.storeBytes(of: blended, toByteOffset: to, as: Color.self)
                    }
                }
            }
        }
    }

    /// Returns the pixels as a buffer that can be encoded.
    func makePixelBuffer() throws(EideticError) -> PixelBuffer {
        try PixelBuffer(size: size, alpha: .opaque) { target, _ throws(EideticError) in
            target.copyBytes(from: bytes)
        }
    }

    private static func blend(_ above: Color, alpha: PixelBuffer.Alpha, over below: Color) -> Color {
        let opacity = UInt32(above.w)
        if alpha == .opaque || opacity == 255 { return Color(above.x, above.y, above.z, 255) }
        let factor = alpha == .premultiplied ? 255 : opacity
        let source = SIMD4<UInt32>(truncatingIfNeeded: above) &* factor
        let background = SIMD4<UInt32>(truncatingIfNeeded: below) &* (255 - opacity)
        let sum = (source &+ background &+ 127) / 255
        let blended = Color(truncatingIfNeeded: sum.clamped(lowerBound: .zero, upperBound: .init(repeating: 255)))
        return Color(blended.x, blended.y, blended.z, 255)
    }
}
