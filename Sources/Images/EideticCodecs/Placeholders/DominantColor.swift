package import EideticCore

extension PixelBuffer {
    /// Returns the colour of the largest area of like colours: opaque, or clear if no pixel is visible.
    ///
    /// - Throws: `outOfMemory`.
    package func dominantColor() throws(EideticError) -> ImageColor {
        let pixels = try premultiplied().sample(side: 64).unpremultiplied()
        var areas = Array(repeating: SIMD4<Int>.zero, count: 1 << 9)
        for y in 0..<pixels.size.height {
            for x in 0..<pixels.size.width {
                let pixel = pixels[x, y]
                let weight = Int(pixel.w)
                let index = Int(pixel.x >> 5) << 6 | Int(pixel.y >> 5) << 3 | Int(pixel.z >> 5)
                areas[index] &+= SIMD4(Int(pixel.x), Int(pixel.y), Int(pixel.z), 1) &* weight
            }
        }
        guard let largest = areas.max(by: { $0.w < $1.w }), largest.w > 0 else { return .clear }
        return ImageColor(
            red: UInt8((largest.x + largest.w / 2) / largest.w),
            green: UInt8((largest.y + largest.w / 2) / largest.w),
            blue: UInt8((largest.z + largest.w / 2) / largest.w)
        )
    }
}
