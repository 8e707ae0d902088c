/// Error-diffusion dithering with the colours of a palette.
///
/// - SeeAlso: R. Floyd, L. Steinberg, "An Adaptive Algorithm for Spatial Grey Scale", 1976.
enum Dithering {
    /// Returns the colour index of each pixel; -1 if its alpha is below 50 %.
    static func indices(for pixels: StraightPixels, palette: inout Palette) -> [Int] {
        var indices = [Int](repeating: -1, count: pixels.colors.count)
        // The errors of a row's pixels, in sixteenths, with one additional element on both sides.
        var errors = [SIMD3<Int>](repeating: .zero, count: pixels.width + 2)
        for y in 0..<pixels.height {
            var next = [SIMD3<Int>](repeating: .zero, count: pixels.width + 2)
            for x in 0..<pixels.width {
                let offset = y * pixels.width + x
                let pixel = pixels.colors[offset]
                if pixel.w < 128 { continue }
                let exact = SIMD3(Int(pixel.x), Int(pixel.y), Int(pixel.z)) &+ errors[x + 1] / 16
                let target = exact.clamped(lowerBound: .zero, upperBound: SIMD3(repeating: 255))
                let index = palette.index(nearestTo: target)
                indices[offset] = index
                let error = target &- palette.colors[index]
                errors[x + 2] &+= error &* 7
                next[x] &+= error &* 3
                next[x + 1] &+= error &* 5
                next[x + 2] &+= error
            }
            errors = next
        }
        return indices
    }
}
