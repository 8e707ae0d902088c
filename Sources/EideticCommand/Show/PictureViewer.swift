import EideticCodecs
import EideticCore

/// Shows pictures on a terminal, fitted to its size.
struct TerminalImageViewer: Sendable {
    private let graphics: TerminalGraphics

    /// The most pixels that have room, with a line to spare for the picture's name and two for what follows.
    let size: PixelSize

    init(graphics: TerminalGraphics, terminal: Terminal.Size) {
        self.graphics = graphics
        let rows = max(1, terminal.rows - 3)
        switch graphics {
        case .blocks: size = PixelSize(width: terminal.columns, height: 2 * rows)
        case .kitty:
            size = PixelSize(width: terminal.columns * terminal.cellSize.width, height: rows * terminal.cellSize.height)
        case .sixel:
            // Many terminals take no more than 1,000 by 1,000 pixels.
            size = PixelSize(
                width: min(1_000, terminal.columns * terminal.cellSize.width),
                height: min(1_000, rows * terminal.cellSize.height)
            )
        }
    }

    /// The bytes that show a picture; the cursor then stands at the beginning of the line below it.
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
