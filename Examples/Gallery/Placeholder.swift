#if GTK
import EideticCore

/// Pictures that stand for others.
enum Placeholder {
    /// A grey picture with a struck frame: this one could not be had.
    static func missing(_ size: PixelSize) throws(EideticError) -> Image {
        let pixels = try PixelBuffer(size: size, alpha: .premultiplied) { pixels, bytesPerRow in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let grey = shade(x - size.width / 2, y - size.height / 2)
                    let place = y * bytesPerRow + 4 * x
                    // The same part of white and of cover: a veil on light and on dark.
                    for channel in 0..<3 { pixels[place + channel] = UInt8(Int(grey) * 128 / 255) }
                    pixels[place + 3] = grey
                }
            }
        }
        return Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: size)
    }

    /// How much of it covers what is below: a cross in a circle on a faint ground.
    private static func shade(_ x: Int, _ y: Int) -> UInt8 {
        let square = x * x + y * y
        let isRing = (529...676).contains(square)
        let isStroke = abs(x + y) <= 2 && square < 529
        return isRing || isStroke ? 150 : 40
    }
}
#endif
