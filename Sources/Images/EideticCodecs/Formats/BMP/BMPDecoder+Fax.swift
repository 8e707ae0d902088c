import CBitmap
import CPixels
import EideticCore

extension BMPDecoder {
    /// The number of rows between two checkpoints.
    private static let rowsPerCheckpoint = 64

    /// Decodes one-dimensional Huffman codes, whose white is the palette's first colour.
    mutating func decodeFax(into canvas: Canvas) throws(EideticError) {
        let palette = expandedPalette(), bytesPerRow = (header.size.width + 7) / 8, height = header.size.height
        let pixels = bytes.count - header.pixelOffset
        guard let source = pointer(at: header.pixelOffset) else { return }
        let codes = eidetic_fax_source(bytes: source, count: pixels, is_reversed: 0)
        let rows = try ScratchBuffer(byteCount: bytesPerRow * Self.rowsPerCheckpoint)
        guard let base = rows.bytes.bytePointer else { return }
        var bit = 0, isValid = true
        for first in stride(from: 0, to: height, by: Self.rowsPerCheckpoint) {
            try task.checkpoint()
            let count = min(Self.rowsPerCheckpoint, height - first)
            var decoded = 0
            if isValid {
                decoded = eidetic_fax_decode(codes, &bit, header.size.width, count, base, bytesPerRow)
                isValid = decoded == count
            }
            if !isValid { try acceptTruncation(message: "BMP: the Huffman codes end before row \(height)") }
            for index in 0..<count {
                let row = canvas.row(at: first + index)
                // Missing rows are transparent black, as in other codings.
                guard index < decoded else { row.update(repeating: 0, count: canvas.bytesPerRow); continue }
                eidetic_bitmap_expand_indexed(row, base + index * bytesPerRow, header.size.width, 1, palette)
            }
        }
    }
}
