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
}
