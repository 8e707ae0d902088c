/// An encoder for half blocks: each character shows two pixels, one above the other, in 24-bit colour.
///
/// - SeeAlso: ITU-T T.416, "select graphic rendition", parameters 38 and 48.
enum HalfBlockEncoder {
    /// Returns the image as lines of characters; pixels with an alpha below 50 % show the terminal's background.
    static func encode(_ pixels: StraightPixels) -> [UInt8] {
        var output: [UInt8] = []
        for row in stride(from: 0, to: pixels.height, by: 2) {
            var last = ""
            for column in 0..<pixels.width {
                let upper = color(in: pixels, x: column, y: row)
                let lower = color(in: pixels, x: column, y: row + 1)
                let (style, block) = character(upper: upper, lower: lower)
                if style != last { output += "\u{1b}[\(style)m".utf8 }
                output += block.utf8
                last = style
            }
            output += "\u{1b}[0m\n".utf8
        }
        return output
    }

    /// Returns the colour of a pixel; `nil` if its alpha is below 50 %, or it lies below the image.
    private static func color(in pixels: StraightPixels, x: Int, y: Int) -> SIMD4<UInt8>? {
        guard y < pixels.height else { return nil }
        let color = pixels.colors[y * pixels.width + x]
        return color.w < 128 ? nil : color
    }

    private static func character(upper: SIMD4<UInt8>?, lower: SIMD4<UInt8>?) -> (style: String, block: String) {
        switch (upper, lower) {
        case (let upper?, let lower?): ("38;2;\(components(of: upper));48;2;\(components(of: lower))", "▀")
        case (let upper?, nil): ("49;38;2;\(components(of: upper))", "▀")
        case (nil, let lower?): ("49;38;2;\(components(of: lower))", "▄")
        case (nil, nil): ("0", " ")
        }
    }

    private static func components(of color: SIMD4<UInt8>) -> String { "\(color.x);\(color.y);\(color.z)" }
}
