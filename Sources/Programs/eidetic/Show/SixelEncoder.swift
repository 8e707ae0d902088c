/// An encoder for sixels: strips of six rows, each drawn once for every colour in it.
///
/// - SeeAlso: DEC, "VT330/VT340 Programmer Reference Manual", chapter 14.
enum SixelEncoder {
    /// Encodes the pixels with at most 256 colours; transparent pixels are not drawn.
    static func encode(_ pixels: StraightPixels) -> [UInt8] {
        var palette = Palette(pixels: pixels, limit: 256)
        let indices = Dithering.indices(for: pixels, palette: &palette)
        // Parameters: square pixels, and pixels that are not drawn keep their colour.
        var output = Array("\u{1b}P0;1;0q\"1;1;\(pixels.width);\(pixels.height)".utf8)
        for (index, color) in palette.colors.enumerated() {
            let percent = (color &* 100 &+ 127) / 255
            output += "#\(index);2;\(percent.x);\(percent.y);\(percent.z)".utf8
        }
        for top in stride(from: 0, to: pixels.height, by: 6) {
            output += strip(of: indices, width: pixels.width, rows: top..<min(top + 6, pixels.height))
            output.append(UInt8(ascii: "-"))
        }
        return output + "\u{1b}\\".utf8
    }

    private static func strip(of indices: [Int], width: Int, rows: Range<Int>) -> [UInt8] {
        var lines: [Int: [UInt8]] = [:]
        for row in rows {
            let bit = UInt8(1) << UInt8(row - rows.lowerBound)
            for column in 0..<width {
                let index = indices[row * width + column]
                if index >= 0 { lines[index, default: [UInt8](repeating: 0, count: width)][column] |= bit }
            }
        }
        return lines.sorted { $0.key < $1.key }.flatMap { index, line in
            // "$" returns to the start of the strip for the next colour.
            Array("#\(index)".utf8) + runLengthEncoded(line) + [UInt8(ascii: "$")]
        }
    }

    /// Returns the sixels of a line with run-length encoding (`!COUNT`), without empty sixels at the end.
    private static func runLengthEncoded(_ line: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var remaining = line[...]
        while remaining.last == 0 { remaining.removeLast() }
        while let sixel = remaining.first {
            let count = remaining.prefix { $0 == sixel }.count
            let character = sixel + 63
            output += count > 3 ? Array("!\(count)".utf8) + [character] : Array(repeating: character, count: count)
            remaining = remaining.dropFirst(count)
        }
        return output
    }
}
