import CChafa
import EideticCore
import Glibc

/// A viewer of images on a terminal, fitted to its size.
struct TerminalImageViewer: Sendable {
    private let graphics: TerminalGraphics
    private let cell: PixelSize

    /// The maximum size in pixels, without one line for the image's name and two lines for the following output.
    let size: PixelSize

    init(graphics: TerminalGraphics, terminal: Terminal.Size) {
        self.graphics = graphics
        cell = PixelSize(width: terminal.cellSize.width, height: terminal.cellSize.height)
        // Many terminals do not support sixels of more than 1,000 by 1,000 pixels.
        let limit = graphics == .sixel ? 1_000 : Int(Int32.max)
        let rows = max(1, min(terminal.rows - 3, limit / cell.height))
        let columns = max(1, min(terminal.columns, limit / cell.width))
        size = PixelSize(width: columns * cell.width, height: rows * cell.height)
    }

    /// Returns the bytes that display an image and move the cursor to the start of the line below it.
    func bytes(for pixels: PixelBuffer) throws(EideticError) -> [UInt8] {
        let fittedSize = pixels.size.scaled(to: size, mode: .fit)
        let area = eidetic_chafa_area(
            columns: Self.cellCount(for: fittedSize.width, cell: cell.width),
            rows: Self.cellCount(for: fittedSize.height, cell: cell.height),
            cell_width: Int32(cell.width),
            cell_height: Int32(cell.height)
        )
        var count = 0
        let text = pixels.withUnsafeBytes { bytes in
            var image = eidetic_chafa_pixels(
                bytes: bytes.bindMemory(to: UInt8.self).baseAddress,
                width: Int32(pixels.size.width),
                height: Int32(pixels.size.height),
                bytes_per_row: Int32(pixels.bytesPerRow),
                is_premultiplied: pixels.alpha == .premultiplied
            )
            return eidetic_chafa_draw(&image, area, graphics.code, &count)
        }
        guard let text else {
            throw EideticError(.outOfMemory, message: "no memory to show an image of \(pixels.size)")
        }
        defer { free(text) }
        return UnsafeRawBufferPointer(start: text, count: count) + [UInt8(ascii: "\n")]
    }

    /// Returns the number of cells next to a length in pixels, at least one.
    private static func cellCount(for length: Int, cell: Int) -> Int32 { Int32(max(1, (length + cell / 2) / cell)) }
}
