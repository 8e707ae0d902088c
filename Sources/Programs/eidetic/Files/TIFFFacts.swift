/// The tags of the first image in a TIFF file.
///
/// - SeeAlso: TIFF 6.0, section 2; BigTIFF.
struct TIFFFacts {
    private let reader: ByteReader
    /// The offset of each tag's entry.
    private var entries: [Int: Int] = [:]
    private let isBig: Bool

    /// Reads the first directory; `nil` if the file has none.
    init?(of bytes: [UInt8]) {
        let reader = ByteReader(bytes: bytes[...], isLittleEndian: bytes.first == UInt8(ascii: "I"))
        self.reader = reader
        isBig = reader.number(at: 2, count: 2) == 43
        guard let start = number(at: isBig ? 8 : 4, isLong: true), let count = number(at: start, isLong: false) else {
            return nil
        }
        let first = start + (isBig ? 8 : 2)
        for index in 0..<min(count, 4_096) {
            let entry = first + index * (isBig ? 20 : 12)
            guard let tag = reader.number(at: entry, count: 2) else { break }
            if entries[tag] == nil { entries[tag] = entry }
        }
    }

    /// The number of bits of a sample.
    var bits: Int? { values(of: 258, limit: 1).first }

    /// The kind of colours.
    var color: String? {
        let names = [0: "grey", 1: "grey", 2: "RGB", 3: "palette", 5: "CMYK", 6: "YCbCr", 8: "Lab", 9: "Lab"]
        return values(of: 262, limit: 1).first.flatMap { names[$0] }
    }

    /// The offset behind the last part of the pixels; 0 if it is not known.
    var endOfPixels: Int {
        [(273, 279), (324, 325)].flatMap { offsets, counts in
            zip(values(of: offsets, limit: 65_536), values(of: counts, limit: 65_536)).map { $0 + $1 }
        }.max() ?? 0
    }

    private func values(of tag: Int, limit: Int) -> [Int] {
        guard let entry = entries[tag], let type = reader.number(at: entry + 2, count: 2),
            let count = number(at: entry + 4, isLong: true), let size = [1: 1, 3: 2, 4: 4, 16: 8][type]
        else { return [] }
        let place = entry + (isBig ? 12 : 8)
        let isInside = count <= (isBig ? 8 : 4) / size
        guard let start = isInside ? place : number(at: place, isLong: true) else { return [] }
        return (0..<min(count, limit)).compactMap { index in
            let offset = start + index * size
            return size == 8 ? number(at: offset, isLong: true) : reader.number(at: offset, count: size)
        }
    }

    /// Returns a number of the file's own size: 32 bits, or 64 in BigTIFF; those that are not long have 16 and 64.
    private func number(at offset: Int, isLong: Bool) -> Int? {
        guard isBig else { return reader.number(at: offset, count: isLong ? 4 : 2) }
        let (first, second) = (reader.number(at: offset, count: 4), reader.number(at: offset + 4, count: 4))
        guard let low = reader.isLittleEndian ? first : second, let high = reader.isLittleEndian ? second : first,
            high < 1 << 24
        else { return nil }
        return high << 32 | low
    }
}
