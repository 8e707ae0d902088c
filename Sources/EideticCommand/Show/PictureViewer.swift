import EideticCodecs
import EideticCore

/// Shows pictures on a terminal, fitted to its size.
struct PictureViewer: Sendable {
    private let graphics: TerminalGraphics

    /// The most pixels that have room, with a line to spare for the picture's name and two for what follows.
    let size: PixelSize

    init(_ graphics: TerminalGraphics, terminal: Terminal.Size) {
        self.graphics = graphics
        let rows = max(1, terminal.rows - 3)
        switch graphics {
        case .blocks: size = PixelSize(width: terminal.columns, height: 2 * rows)
        case .kitty:
            size = PixelSize(width: terminal.columns * terminal.cell.width, height: rows * terminal.cell.height)
        case .sixel:
            // Many terminals take no more than 1,000 by 1,000 pixels.
            size = PixelSize(
                width: min(1_000, terminal.columns * terminal.cell.width),
                height: min(1_000, rows * terminal.cell.height)
            )
        }
    }

    /// The bytes that show a picture; the cursor then stands at the beginning of the line below it.
    func bytes(for pixels: PixelBuffer) throws(EideticError) -> [UInt8] {
        let fitted = pixels.size.scaled(to: size, .fit)
        let picture = fitted == pixels.size ? pixels : try Resampler.resample(pixels, to: fitted)
        let straight = StraightPixels(picture)
        return switch graphics {
        case .kitty: KittyEncoder.encode(straight)
        case .sixel: SixelEncoder.encode(straight)
        case .blocks: BlockEncoder.encode(straight)
        }
    }
}
