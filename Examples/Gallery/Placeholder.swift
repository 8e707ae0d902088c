#if GTK
import EideticCore

/// Images that replace others.
enum Placeholder {
    /// Returns a grey image with a cross in a circle, for an image that could not be loaded.
    static func missingImage(size: PixelSize) throws(EideticError) -> Image {
        let pixels = try PixelBuffer(size: size, alpha: .premultiplied) { pixels, bytesPerRow in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let grey = opacity(x: x - size.width / 2, y: y - size.height / 2)
                    let offset = y * bytesPerRow + 4 * x
                    // Half-transparent white, which is visible on light and on dark.
                    for channel in 0..<3 { pixels[offset + channel] = UInt8(Int(grey) * 128 / 255) }
                    pixels[offset + 3] = grey
                }
            }
        }
        return Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: size)
    }

    /// Returns the opacity of a pixel: a cross in a circle on a faint background.
    private static func opacity(x: Int, y: Int) -> UInt8 {
        let square = x * x + y * y
        let isRing = (529...676).contains(square)
        let isStroke = abs(x + y) <= 2 && square < 529
        return isRing || isStroke ? 150 : 40
    }
}
#endif
