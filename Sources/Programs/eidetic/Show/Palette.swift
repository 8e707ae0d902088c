/// A palette of representative colours of an image, computed by median cut.
///
/// - SeeAlso: P. Heckbert, "Color Image Quantization for Frame Buffer Display", 1982.
struct Palette {
    /// The pixels whose colours agree in the upper 5 bits of each channel.
    private struct Shade {
        var count = 0
        var sum = SIMD3<Int>(0, 0, 0)

        var mean: SIMD3<Int> { sum / max(1, count) }
    }

    /// A set of shades that one colour of the palette represents.
    private struct Box {
        let shades: [(mean: SIMD3<Int>, count: Int)]
        /// The channel with the widest range.
        let channel: Int
        /// The priority for splitting: the widest range multiplied by the number of pixels; 0 for a single shade.
        let priority: Int
        let count: Int

        init(shades: [(mean: SIMD3<Int>, count: Int)]) {
            self.shades = shades
            let low = shades.reduce(SIMD3(repeating: 255)) { pointwiseMin($0, $1.mean) }
            let width = shades.reduce(SIMD3(repeating: 0)) { pointwiseMax($0, $1.mean) } &- low
            count = shades.reduce(0) { $0 + $1.count }
            channel = (0..<3).max { width[$0] < width[$1] } ?? 0
            priority = shades.count < 2 ? 0 : width[channel] * count
        }

        /// The mean colour of all pixels.
        var color: SIMD3<Int> {
            shades.reduce(into: SIMD3<Int>.zero) { $0 &+= $1.mean &* $1.count } / max(1, count)
        }

        /// The two halves of the box, with about the same number of pixels.
        var halves: (Box, Box) {
            let sorted = shades.sorted { $0.mean[channel] < $1.mean[channel] }
            var (seen, middle) = (sorted[0].count, 1)
            while middle < sorted.count - 1, seen < count / 2 {
                seen += sorted[middle].count
                middle += 1
            }
            return (Box(shades: Array(sorted[..<middle])), Box(shades: Array(sorted[middle...])))
        }
    }

    /// The colours: red, green and blue from 0 to 255.
    let colors: [SIMD3<Int>]

    /// The index of the nearest colour for each shade; -1 until it is computed.
    private var nearest = [Int](repeating: -1, count: 1 << 15)

    /// Computes at most `limit` colours for the pixels whose alpha is at least 50 %.
    init(pixels: StraightPixels, limit: Int) {
        var shades = [Shade](repeating: Shade(), count: 1 << 15)
        for color in pixels.colors where color.w >= 128 {
            let color = SIMD3(Int(color.x), Int(color.y), Int(color.z))
            shades[Self.shadeIndex(of: color)].count += 1
            shades[Self.shadeIndex(of: color)].sum &+= color
        }
        var boxes = [Box(shades: shades.filter { $0.count > 0 }.map { ($0.mean, $0.count) })]
        while boxes.count < limit,
            let best = boxes.indices.max(by: { boxes[$0].priority < boxes[$1].priority }), boxes[best].priority > 0
        {
            let (left, right) = boxes[best].halves
            boxes[best] = left
            boxes.append(right)
        }
        colors = boxes.map(\.color)
    }

    /// Returns the index of the nearest colour of the palette.
    mutating func index(nearestTo color: SIMD3<Int>) -> Int {
        let shade = Self.shadeIndex(of: color)
        if nearest[shade] < 0 {
            let distances = colors.map { candidate in
                let difference = candidate &- color
                // The eye is most sensitive to green and least sensitive to blue.
                let weighted = difference &* difference &* SIMD3(3, 4, 2)
                return weighted.x + weighted.y + weighted.z
            }
            nearest[shade] = distances.indices.min { distances[$0] < distances[$1] } ?? 0
        }
        return nearest[shade]
    }

    private static func shadeIndex(of color: SIMD3<Int>) -> Int {
        (color.x >> 3) << 10 | (color.y >> 3) << 5 | color.z >> 3
    }
}
