import EideticCore

/// The orientation in EXIF metadata.
///
/// Reads the first directory only, at most its entries, and follows no offset outside the block.
///
/// - SeeAlso: Exif 2.32, section 4.6.2 and tag 274; TIFF 6.0, section 2.
enum Exif {
    /// Returns the orientation; `up` if the block has none or is invalid.
    static func orientation(in block: UnsafeRawBufferPointer) -> ImageOrientation {
        entry(in: block).map { ImageOrientation(exif: $0.value) } ?? .up
    }

    /// Returns a block with the orientation 1.
    static func upright(_ block: [UInt8]) -> [UInt8] {
        guard let entry = block.withUnsafeBytes({ entry(in: $0) }), entry.value != 1 else { return block }
        var block = block
        for index in entry.bytes { block[index] = 0 }
        block[entry.isLittleEndian ? entry.bytes.lowerBound : entry.bytes.upperBound - 1] = 1
        return block
    }

    /// The entry of the orientation.
    private struct Entry {
        let value: Int
        /// The place of the value in the block.
        let bytes: Range<Int>
        let isLittleEndian: Bool
    }

    private static func entry(in block: UnsafeRawBufferPointer) -> Entry? {
        let start = block.contains("Exif\0\0") ? 6 : 0
        guard let tiff = block.slice(at: start, count: block.count - start) else { return nil }
        let isLittle = tiff.contains("II")
        guard isLittle || tiff.contains("MM") else { return nil }
        func short(at offset: Int) -> Int? { isLittle ? tiff.littleEndian16(at: offset) : tiff.bigEndian16(at: offset) }
        func long(at offset: Int) -> Int? { isLittle ? tiff.littleEndian32(at: offset) : tiff.bigEndian32(at: offset) }
        guard short(at: 2) == 42, let directory = long(at: 4), let entries = short(at: directory) else { return nil }
        for index in 0..<entries {
            let entry = directory + 2 + 12 * index
            guard let tag = short(at: entry) else { break }
            guard tag == 274 else { continue }
            // As in browsers, anything but one value of type short (3) is none.
            guard short(at: entry + 2) == 3, long(at: entry + 4) == 1, let value = short(at: entry + 8) else {
                return nil
            }
            let place = start + entry + 8
            return Entry(value: value, bytes: place..<place + 2, isLittleEndian: isLittle)
        }
        return nil
    }
}
