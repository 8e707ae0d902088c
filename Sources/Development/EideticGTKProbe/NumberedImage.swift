#if GTK
import EideticCore

/// Images of 64 by 64 pixels that contain a number: 16 bits as 4 by 4 blocks, light for 1.
enum NumberedImage {
    /// The side of an image in pixels.
    static let side = 64

    /// Returns the image that contains a number.
    static func image(number: Int) throws(EideticError) -> Image {
        let size = PixelSize(width: side, height: side)
        let pixels = try PixelBuffer(size: size, alpha: .opaque) { pixels, bytesPerRow in
            for y in 0..<side {
                for x in 0..<side {
                    let bit = number >> (y / 16 * 4 + x / 16) & 1
                    for channel in 0..<3 { pixels[y * bytesPerRow + 4 * x + channel] = bit == 1 ? 230 : 25 }
                    pixels[y * bytesPerRow + 4 * x + 3] = 255
                }
            }
        }
        return Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: size)
    }

    /// Returns the number whose bits are the brightness at the centres of the blocks.
    static func readNumber(brightness: (_ x: Int, _ y: Int) -> UInt8) -> Int {
        (0..<16).reduce(0) { $0 | (brightness($1 % 4 * 16 + 8, $1 / 4 * 16 + 8) > 127 ? 1 << $1 : 0) }
    }
}
#endif
