import EideticCore

/// Mean premultiplied colours of parts of an image, for the comparison of decoders.
enum PixelGrid {
    /// Returns the means of 8 × 8 cells, row by row, four bytes each.
    static func cells(of pixels: PixelBuffer) -> [UInt8] {
        let rows = cellRanges(length: pixels.size.height)
        let columns = cellRanges(length: pixels.size.width)
        return rows.flatMap { row in columns.flatMap { mean(of: pixels, columns: $0, rows: row) } }
    }

    /// Returns the mean of the whole image, four bytes.
    static func mean(of pixels: PixelBuffer) -> [UInt8] {
        mean(of: pixels, columns: 0..<pixels.size.width, rows: 0..<pixels.size.height)
    }

    static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    private static func cellRanges(length: Int) -> [Range<Int>] {
        (0..<8).map { index in
            let start = index * length / 8
            return start..<max(start + 1, (index + 1) * length / 8)
        }
    }

    private static func mean(of pixels: PixelBuffer, columns: Range<Int>, rows: Range<Int>) -> [UInt8] {
        let factor: Double = pixels.alpha == .straight ? 255 : 1
        var sums = [Int](repeating: 0, count: 4)
        pixels.withUnsafeBytes { bytes in
            for y in rows {
                for x in columns {
                    let offset = y * pixels.bytesPerRow + 4 * x
                    let weight = pixels.alpha == .straight ? Int(bytes[offset + 3]) : 1
                    for channel in 0..<3 { sums[channel] += Int(bytes[offset + channel]) * weight }
                    sums[3] += Int(bytes[offset + 3])
                }
            }
        }
        let count = Double(columns.count * rows.count)
        return sums.indices.map { channel in
            let mean = Double(sums[channel]) / (channel < 3 ? count * factor : count)
            return UInt8(min(255, (mean + 0.5).rounded(.down)))
        }
    }
}
