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
        var markers: [(number: Int, range: Range<Int>)] = []
        var offset = 2
        for _ in 0..<Self.maximumStepCount {
            guard let start = number(at: offset, count: 1), let marker = number(at: offset + 1, count: 1) else { break }
            guard start == 0xff, marker != 0xff, marker != 0 else {
                offset += 1
                continue
            }
            let isAlone = marker == 1 || (0xd0...0xda).contains(marker)
            let end = offset + 2 + (isAlone ? 0 : max(2, number(at: offset + 2, count: 2) ?? 2))
            markers.append((marker, offset..<end))
            if marker == 0xda { break }
            offset = end
        }
        return markers
    }
}
