import EideticCore

/// The first directory of a TIFF file.
///
/// - SeeAlso: TIFF 6.0, section 2; the BigTIFF design of libtiff.
enum TIFFDirectory {
    /// The maximum number of entries; real directories have some dozens.
    ///
    /// libtiff compares each entry with all others.
    static let maximumEntryCount = 4_096

    /// Throws `limitExceeded` if the directory has too many entries.
    static func check(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        guard let count = entryCount(in: bytes), count > maximumEntryCount else { return }
        let limit = "the limit is \(maximumEntryCount)"
        throw EideticError(.limitExceeded, message: "tiff: the directory has \(count) entries; \(limit)")
    }

    private static func entryCount(in bytes: UnsafeRawBufferPointer) -> Int? {
        let isLittle = bytes.contains("II")
        func long(at offset: Int) -> Int? {
            isLittle ? bytes.littleEndian32(at: offset) : bytes.bigEndian32(at: offset)
        }
        func short(at offset: Int) -> Int? {
            isLittle ? bytes.littleEndian16(at: offset) : bytes.bigEndian16(at: offset)
        }
        func longer(at offset: Int) -> Int? {
            guard let first = long(at: offset), let second = long(at: offset + 4) else { return nil }
            let high = isLittle ? second : first
            let low = isLittle ? first : second
            return high < 1 << 30 ? high << 32 | low : .max
        }
        guard short(at: 2) == 43 else { return long(at: 4).flatMap { short(at: $0) } }
        return longer(at: 8).flatMap { longer(at: $0) }
    }
}
