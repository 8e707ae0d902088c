/// The colours that stand best for those of a picture, found by median cut.
///
/// - SeeAlso: P. Heckbert, "Color Image Quantization for Frame Buffer Display", 1982.
struct Palette {
    /// Colours of nearly one shade: 5 bits a channel are told apart.
    private struct Shade {
        var count = 0
        var sum = SIMD3<Int>(0, 0, 0)

        var mean: SIMD3<Int> { sum / max(1, count) }
    }

    /// Shades that one colour stands for.
    private struct Box {
        let shades: [(mean: SIMD3<Int>, count: Int)]
        /// The channel in which the shades are furthest apart.
        let channel: Int
        /// How far off one colour all pixels are, taken together; 0 where the box cannot be cut.
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

        /// The mean of all pixels.
        var color: SIMD3<Int> {
            shades.reduce(into: SIMD3<Int>.zero) { $0 &+= $1.mean &* $1.count } / max(1, count)
        }

        /// The box in two, with about as many pixels each.
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

    /// The colours: red, green, blue from 0 to 255.
    let colors: [SIMD3<Int>]

    /// The nearest colour for each shade, as far as it was asked for.
    private var nearest = [Int](repeating: -1, count: 1 << 15)

    /// Finds at most `limit` colours for the pixels that are not transparent.
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

    /// The index of the colour that is nearest to a colour.
    mutating func index(nearestTo color: SIMD3<Int>) -> Int {
        let shade = Self.shadeIndex(of: color)
        if nearest[shade] < 0 {
            let distances = colors.map { candidate in
                let difference = candidate &- color
                // The eye sees differences of green best, of blue least.
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
