#if GTK
import EideticCore

extension Image {
    /// Returns an image of one colour.
    static func plain(_ colour: Colour, width: Int = 64, height: Int = 64) throws(EideticError) -> Image {
        let pixels = try PixelBuffer.plain(colour, width: width, height: height)
        return Image(frames: [Frame(pixels: pixels)], format: .png, sourceSize: pixels.size)
    }
}

extension PixelBuffer {
    /// Returns pixels of one colour.
    static func plain(_ colour: Colour, width: Int, height: Int) throws(EideticError) -> PixelBuffer {
        let size = PixelSize(width: width, height: height)
        return try PixelBuffer(size: size, alpha: .opaque) { pixels, _ in
            for offset in stride(from: 0, to: pixels.count, by: 4) {
                pixels[offset] = colour.red
                pixels[offset + 1] = colour.green
                pixels[offset + 2] = colour.blue
                pixels[offset + 3] = 255
            }
        }
    }
}
#endif
