import Dispatch
import Eidetic

/// Draws images in a terminal with two pixels a character, or as a line of text where the output is none.
final class TerminalScreen: Screen {
    /// The width of the drawing in characters.
    private static let width = 40

    func present() {}

    func show(_ image: Image, of request: ImageRequest) {
        let pixels = image.pixels
        let height = max(2, Self.width * pixels.size.height / max(1, pixels.size.width)) & ~1
        for row in stride(from: 0, to: height, by: 2) {
            let line = (0..<Self.width).map { column in
                let x = column * pixels.size.width / Self.width
                let (upper, lower) = (
                    color(pixels, x: x, row: row, of: height), color(pixels, x: x, row: row + 1, of: height)
                )
                return "\u{1b}[38;2;\(upper)m\u{1b}[48;2;\(lower)m▀"
            }
            print("\(line.joined())\u{1b}[0m")
        }
    }

    /// The colour of the pixel in a row of the drawing.
    private func color(_ pixels: PixelBuffer, x: Int, row: Int, of height: Int) -> String {
        let pixel = pixels[x, min(pixels.size.height - 1, row * pixels.size.height / height)]
        return "\(pixel[0]);\(pixel[1]);\(pixel[2])"
    }

    /// The main queue runs the main actor.
    func run() { dispatchMain() }
}
