import EideticCodecs
import EideticCore

/// A viewer of images on a terminal, fitted to its size.
struct TerminalImageViewer: Sendable {
    private let graphics: TerminalGraphics

    /// The maximum size in pixels, without one line for the image's name and two lines for the following output.
    let size: PixelSize

    init(graphics: TerminalGraphics, terminal: Terminal.Size) {
        self.graphics = graphics
        let rows = max(1, terminal.rows - 3)
        switch graphics {
        case .blocks: size = PixelSize(width: terminal.columns, height: 2 * rows)
        case .kitty:
            size = PixelSize(width: terminal.columns * terminal.cellSize.width, height: rows * terminal.cellSize.height)
        case .sixel:
            // Many terminals do not support more than 1,000 by 1,000 pixels.
            size = PixelSize(
                width: min(1_000, terminal.columns * terminal.cellSize.width),
                height: min(1_000, rows * terminal.cellSize.height)
            )
        }
    }

    /// Returns the bytes that display an image and move the cursor to the start of the line below it.
    func bytes(for pixels: PixelBuffer) throws(EideticError) -> [UInt8] {
        let fittedSize = pixels.size.scaled(to: size, mode: .fit)
        let fittedPixels = fittedSize == pixels.size ? pixels : try Resampler.resample(pixels, to: fittedSize)
        let straight = StraightPixels(fittedPixels)
        return switch graphics {
        case .kitty: KittyEncoder.encode(straight)
        case .sixel: SixelEncoder.encode(straight)
        case .blocks: HalfBlockEncoder.encode(straight)
        }
    }
}
