import EideticCore

/// A reader of the orientation in EXIF metadata.
///
/// Reads the first directory only, at most its entries, and follows no offset outside the block.
///
/// - SeeAlso: Exif 2.32, section 4.6.2 and tag 274; TIFF 6.0, section 2.
enum Exif {
    /// Returns the orientation; `up` if the block has none or is invalid.
    static func orientation(in block: UnsafeRawBufferPointer) -> ImageOrientation {
        var tiff = block
        if block.contains("Exif\0\0"), let content = block.slice(at: 6, count: block.count - 6) { tiff = content }
        let isLittle = tiff.contains("II")
        guard isLittle || tiff.contains("MM") else { return .up }
        func short(at offset: Int) -> Int? { isLittle ? tiff.littleEndian16(at: offset) : tiff.bigEndian16(at: offset) }
        func long(at offset: Int) -> Int? { isLittle ? tiff.littleEndian32(at: offset) : tiff.bigEndian32(at: offset) }
        guard short(at: 2) == 42, let directory = long(at: 4), let entries = short(at: directory) else { return .up }
        for index in 0..<entries {
            let entry = directory + 2 + 12 * index
            guard let tag = short(at: entry) else { break }
            if tag == 274 { return ImageOrientation(exif: value(ofEntryAt: entry, short: short, long: long) ?? 0) }
        }
        return .up
    }

    /// Returns the first value of an entry of type short (3) or long (4).
    private static func value(ofEntryAt entry: Int, short: (Int) -> Int?, long: (Int) -> Int?) -> Int? {
        switch short(entry + 2) {
        case 3: short(entry + 8)
        case 4: long(entry + 8)
        default: nil
        }
    }
}
