import EideticCodecs

/// Numbers in bytes; what is beyond the end is `nil`.
struct ByteReader {
    let bytes: ArraySlice<UInt8>
    var isLittleEndian = false

    /// The largest number of parts of a file that are looked at: as many as decoders accept.
    static let maximumStepCount = 1 << 18

    /// Returns the unsigned number of some bytes at an offset.
    func number(at offset: Int, count: Int) -> Int? {
        guard offset >= 0, count <= 4, offset <= bytes.count - count else { return nil }
        let part = bytes[(bytes.startIndex + offset)...].prefix(count)
        return isLittleEndian ? part.reversed().reduce(0) { $0 << 8 | Int($1) } : part.reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns the text of some bytes, up to a NUL.
    func text(at offset: Int, count: Int) -> String? {
        guard offset >= 0, count >= 0, offset <= bytes.count - count else { return nil }
        let part = bytes[(bytes.startIndex + offset)...].prefix(count).prefix { $0 != 0 }
        return String(decoding: part, as: UTF8.self)
    }

    /// The markers of a JPEG file, with the ranges of their segments, up to the first scan, which has none.
    var jpegMarkers: [(number: Int, range: Range<Int>)] {
        bytes.withUnsafeBytes { bytes in
            JPEGMarkers(bytes).prefix(Self.maximumStepCount).map { (Int($0.number), $0.range) }
        }
    }

    /// The chunks of a PNG file, with the ranges of their contents as far as there are bytes.
    var pngChunks: [(name: String, content: Range<Int>, isComplete: Bool)] {
        bytes.withUnsafeBytes { bytes in
            PNGChunks(bytes).prefix(Self.maximumStepCount).map { chunk in
                let start = chunk.offset + 8
                return (chunk.name, start..<start + chunk.content.count, chunk.isComplete)
            }
        }
    }
}
