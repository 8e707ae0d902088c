import EideticCore

/// Pixels with straight (not premultiplied) alpha and without padding between rows.
struct StraightPixels {
    let width: Int
    let height: Int
    /// The red, green, blue and alpha of each pixel.
    let colors: [SIMD4<UInt8>]

    init(_ pixels: PixelBuffer) {
        let (width, height) = (pixels.size.width, pixels.size.height)
        self.width = width
        self.height = height
        let isMultiplied = pixels.alpha == .premultiplied
        colors = pixels.withUnsafeBytes { bytes in
            [SIMD4<UInt8>](unsafeUninitializedCapacity: width * height) { colors, count in
                for y in 0..<height {
                    for x in 0..<width {
                        let offset = y * pixels.bytesPerRow + 4 * x
                        let color = bytes.loadUnaligned(fromByteOffset: offset, as: SIMD4<UInt8>.self)
                        colors.initializeElement(
                            at: y * width + x,
                            to: isMultiplied ? Self.unpremultiplied(color) : color
                        )
                    }
                }
                count = width * height
            }
        }
    }

    /// Creates pixels from colours.
    init(width: Int, height: Int, colors: [SIMD4<UInt8>]) {
        precondition(colors.count == width * height)
        (self.width, self.height, self.colors) = (width, height, colors)
    }

    private static func unpremultiplied(_ color: SIMD4<UInt8>) -> SIMD4<UInt8> {
        let alpha = Int(color.w)
        guard alpha > 0, alpha < 255 else { return color }
        func divide(_ value: UInt8) -> UInt8 { UInt8(min(255, (Int(value) * 255 + alpha / 2) / alpha)) }
        return SIMD4(divide(color.x), divide(color.y), divide(color.z), color.w)
    }
}
