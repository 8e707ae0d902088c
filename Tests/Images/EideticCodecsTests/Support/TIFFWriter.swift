/// A writer of TIFF files with one page and one strip, tag by tag, for valid and invalid files.
struct TIFFWriter {
    private var tags: [(tag: Int, kind: Int, count: Int, value: Int)] = []
    private var tail: [UInt8] = []
    private let strip: [UInt8]

    init(width: Int, height: Int, bits: Int, samples: Int = 1, photometric: Int, compression: Int, strip: [UInt8]) {
        self.strip = strip
        tags = [
            (256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, bits), (259, 3, 1, compression),
            (262, 3, 1, photometric), (277, 3, 1, samples), (278, 4, 1, height), (279, 4, 1, strip.count),
        ]
    }

    /// Adds a tag with a number.
    mutating func add(tag: Int, value: Int) { tags.append((tag, 4, 1, value)) }

    /// Adds a tag with bytes.
    mutating func add(tag: Int, bytes: [UInt8]) {
        tags.append((tag, 7, bytes.count, -1 - tail.count))
        tail += bytes
    }

    /// The complete file.
    var finished: [UInt8] {
        let start = 8 + 2 + 12 * (tags.count + 1) + 4
        let all = (tags + [(273, 4, 1, start)]).sorted { $0.tag < $1.tag }
        var bytes =
            Array("II".utf8) + littleEndian(42, byteCount: 2) + littleEndian(8, byteCount: 4)
            + littleEndian(all.count, byteCount: 2)
        for (tag, kind, count, value) in all {
            let offset = value < 0 ? start + strip.count - 1 - value : value
            bytes +=
                littleEndian(tag, byteCount: 2) + littleEndian(kind, byteCount: 2) + littleEndian(count, byteCount: 4)
                + littleEndian(offset, byteCount: 4)
        }
        return bytes + littleEndian(0, byteCount: 4) + strip + tail
    }

    private func littleEndian(_ value: Int, byteCount count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
