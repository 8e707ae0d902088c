import CPixels
import EideticCore

extension FuzzTarget {
    /// The decompressors in C.
    static let kernels = [
        FuzzTarget(
            name: "lzw",
            maximumLength: 2_048,
            seeds: { [[2, 2, 0x4c, 1, 0], strings, strings.dropLast(9) + [0xff, 0xff]] }
        ) { bytes in
            guard let codeSize = bytes.first else { return }
            decompress(Array(bytes.dropFirst()), codeSize: Int32(codeSize))
        },
        FuzzTarget(name: "png-rows", maximumLength: 2_048, seeds: { rows }) {
            bytes in
            guard bytes.count > 2 else { return }
            let pixel = 1 + Int(bytes[0] & 3), length = pixel * (1 + Int(bytes[1] & 63))
            unfilter(Array(bytes[2...]), rowLength: length, pixelLength: pixel)
        },
        FuzzTarget(name: "palette", maximumLength: 2_048, seeds: { colours }) { bytes in
            guard let limit = bytes.first, limit > 0 else { return }
            quantize(Array(bytes.dropFirst()), limit: Int(limit))
        },
    ]

    /// Codes of strings that repeat, of an image of 10 by 10 pixels.
    private static let strings: [UInt8] = [
        2, 0x8c, 0x2d, 0x99, 0x87, 0x2a, 0x1c, 0xdc, 0x33, 0xa0, 2, 0x75, 0xec, 0x95, 0xfa, 0xa8, 0xde, 0x60, 0x8c, 4,
        0x91,
        0x4c, 1,
    ]

    /// Three rows of five pixels, of each size and filter.
    private static let rows: [[UInt8]] = (0..<4).flatMap { (pixel: UInt8) -> [[UInt8]] in
        (0..<6).map { (filter: UInt8) -> [UInt8] in
            let row: [UInt8] = [filter] + (0..<5 * (pixel + 1)).map { $0 &* 37 }
            return [pixel, 4] + row + row + row
        }
    }

    /// Pixels of many colours, of few, and clear ones.
    private static let colours: [[UInt8]] = [
        [8] + (0..<1_600).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 7) }, [255] + Array(0..<64),
        [16] + (0..<800).map { $0 % 8 < 4 ? 200 : 255 }, [4] + [UInt8](repeating: 0, count: 64),
    ]

    /// Decompresses at once and in steps, which must have the same result.
    private static func decompress(_ source: [UInt8], codeSize: Int32) {
        var whole = [UInt8](repeating: 0, count: 3_000), count = 0
        let status = eidetic_lzw_decompress(source, source.count, codeSize, &whole, whole.count, &count)
        guard let decoder = eidetic_lzw_create(codeSize) else {
            return require(status == EIDETIC_LZW_CORRUPT, "the code size \(codeSize) is not refused")
        }
        defer { eidetic_lzw_destroy(decoder) }
        var parts = [UInt8](repeating: 0, count: whole.count), partCount = 0
        var last = EIDETIC_LZW_TRUNCATED
        for end in [source.count / 3, source.count / 2, source.count] where last == EIDETIC_LZW_TRUNCATED {
            let part = Array(source.prefix(end))
            last = eidetic_lzw_continue(decoder, part, part.count, &parts, parts.count, &partCount)
            require(eidetic_lzw_consumed(decoder) <= part.count, "more bytes are consumed than there are")
        }
        require(partCount == count && parts[..<count] == whole[..<count], "steps decompress otherwise")
    }

    private static func unfilter(_ bytes: [UInt8], rowLength: Int, pixelLength: Int) {
        var rows = bytes
        let count = bytes.count / (rowLength + 1), above = [UInt8](repeating: 7, count: rowLength)
        rows.removeLast(bytes.count - count * (rowLength + 1))
        let valid = eidetic_png_unfilter(&rows, rowLength, count, pixelLength, above)
        require(valid <= count, "\(valid) rows of \(count)")
        require((0..<valid).allSatisfy { bytes[$0 * (rowLength + 1)] < 5 }, "an unknown filter is accepted")
    }

    private static func quantize(_ bytes: [UInt8], limit: Int) {
        let count = bytes.count / 4
        guard count > 0 else { return }
        let pixels = Array(bytes.prefix(4 * count))
        var colours = [UInt8](repeating: 0, count: 3 * limit), indices = [UInt8](repeating: 0, count: count)
        let used = Int(eidetic_pixels_quantize(pixels, count, Int32(limit), &colours, &indices))
        require(used <= limit && indices.allSatisfy { $0 <= used }, "an index is beyond \(used) colours")
    }
}
