import Testing

/// An image decoded from sixels.
struct SixelImage {
    private(set) var width = 0
    private(set) var height = 0
    /// Red, green and blue from 0 to 255.
    private(set) var colors: [SIMD2<Int>: SIMD3<Double>] = [:]

    init(_ text: String) throws {
        let start = try #require(text.firstRange(of: "\u{1b}P0;1;0q"))
        var remaining = text[start.upperBound...].prefix { $0 != "\u{1b}" }
        var palette: [Int: SIMD3<Double>] = [:]
        var (x, top, color, count) = (0, 0, 0, 1)
        func numbers() -> [Int] {
            let part = remaining.prefix { $0.isNumber || $0 == ";" }
            remaining = remaining.dropFirst(part.count)
            return part.split(separator: ";").compactMap { Int($0) }
        }
        while let character = remaining.popFirst() {
            switch character {
            case "\"":
                let values = numbers()
                (width, height) = (values[2], values[3])
            case "#":
                let values = numbers()
                color = values[0]
                if values.count == 5 { palette[color] = SIMD3(values[2...4].map { Double($0) * 2.55 }) }
            case "!": count = numbers()[0]
            case "$": x = 0
            case "-": (x, top) = (0, top + 6)
            default:
                let bits = Int(try #require(character.asciiValue)) - 63
                for column in x..<(x + count) {
                    for row in 0..<6 where bits >> row & 1 == 1 { colors[SIMD2(column, top + row)] = palette[color] }
                }
                (x, count) = (x + count, 1)
            }
        }
    }
}
