import EideticCore

/// An EXIF block whose values are changed in place.
///
/// Follows the first directory, the one behind it, and those of photographs and positions; no offset outside the block.
///
/// - SeeAlso: Exif 2.32, sections 4.5 and 4.6; TIFF 6.0, section 2.
struct ExifBlock {
    private(set) var bytes: [UInt8]
    /// The offset of the TIFF header, from which all others count.
    private let start: Int
    private let isLittleEndian: Bool

    private enum Tag {
        static let imageWidth = 0x0100
        static let imageLength = 0x0101
        static let orientation = 0x0112
        static let thumbnail = 0x0201
        static let thumbnailLength = 0x0202
        static let photograph = 0x8769
        static let position = 0x8825
        static let pixelWidth = 0xa002
        static let pixelHeight = 0xa003
    }

    /// Reads the header of a block; `nil` if it is invalid.
    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        start = bytes.starts(with: "Exif\0\0".utf8) ? 6 : 0
        guard bytes.count >= start + 8 else { return nil }
        isLittleEndian = bytes[start] == UInt8(ascii: "I")
        guard isLittleEndian || bytes[start] == UInt8(ascii: "M"), number(at: 2, count: 2) == 42 else { return nil }
    }

    /// Returns the block in a box, which begins with the distance of the block's TIFF header.
    ///
    /// - SeeAlso: ISO/IEC 23008-12, annex A.2.1; ISO/IEC 18181-2, 9.3.
    static func content(ofBox box: [UInt8]) -> [UInt8]? {
        box.withUnsafeBytes { bytes in
            guard let distance = bytes.bigEndian32(at: 0) else { return nil }
            return bytes.slice(at: 4 + distance, count: bytes.count - 4 - distance).map(Array.init)
        }
    }

    mutating func setUpright() { set(Tag.orientation, in: firstDirectory, to: 1) }

    /// Sets the size of the image, where the block states one.
    mutating func setSize(_ size: PixelSize) {
        set(Tag.imageWidth, in: firstDirectory, to: size.width)
        set(Tag.imageLength, in: firstDirectory, to: size.height)
        guard let photograph = value(of: Tag.photograph, in: firstDirectory) else { return }
        set(Tag.pixelWidth, in: photograph, to: size.width)
        set(Tag.pixelHeight, in: photograph, to: size.height)
    }

    /// Returns the file of the thumbnail; `nil` if there is none, or the block names another size than the image has.
    func thumbnail(ofImage size: PixelSize) -> [UInt8]? {
        let photograph = value(of: Tag.photograph, in: firstDirectory)
        for (tag, side) in [(Tag.pixelWidth, size.width), (Tag.pixelHeight, size.height)] {
            if let named = value(of: tag, in: photograph), named != side { return nil }
        }
        guard let (_, second) = secondDirectory, let place = value(of: Tag.thumbnail, in: second),
            let length = value(of: Tag.thumbnailLength, in: second)
        else { return nil }
        return bytes.withUnsafeBytes { $0.slice(at: start + place, count: length).map(Array.init) }
    }

    /// Removes the thumbnail, and the second directory, which describes it.
    mutating func removeThumbnail() {
        guard let (link, second) = secondDirectory else { return }
        if let place = value(of: Tag.thumbnail, in: second), let length = value(of: Tag.thumbnailLength, in: second) {
            clear(place, count: length)
        }
        var budget = 4 * bytes.count
        clearDirectory(second, within: &budget)
        write(0, at: link, count: 4)
    }

    /// Removes the directory of the position, and all its values.
    ///
    /// - Returns: `false` if the block is cut, so that it may still have a position; otherwise, `true`.
    mutating func removePosition() -> Bool {
        guard let first = firstDirectory, let count = number(at: first, count: 2), count <= 1_024,
            let link = linkOffset(of: first), start + link <= bytes.count
        else { return false }
        // Entries that share their values would take the time of each.
        var budget = 4 * bytes.count
        for left in (0..<count).reversed() {
            guard let entry = entry(of: Tag.position, in: first) else { break }
            if let position = number(at: entry + 8, count: 4) { clearDirectory(position, within: &budget) }
            guard budget > 0 else { return false }
            // Values at the end of the block are cut off, and a directory may overlap with another one.
            let end = start + link + 4
            guard end <= bytes.count, start + entry + 12 <= end else { return false }
            // What follows the entry moves up.
            let rest = Array(bytes[(start + entry + 12)..<end])
            bytes.replaceSubrange((start + entry)..<end, with: rest + [UInt8](repeating: 0, count: 12))
            write(left, at: first, count: 2)
        }
        return true
    }

    // MARK: Directories

    private var firstDirectory: Int? { number(at: 4, count: 4) }

    /// The second directory, and the offset of the link to it; `nil` if there is none.
    private var secondDirectory: (link: Int, offset: Int)? {
        guard let link = firstDirectory.flatMap(linkOffset), let second = number(at: link, count: 4), second > 0 else {
            return nil
        }
        return (link, second)
    }

    private func entries(of directory: Int) -> Range<Int> { 0..<min(number(at: directory, count: 2) ?? 0, 1_024) }

    /// The offset of the link to the next directory.
    private func linkOffset(of directory: Int) -> Int? {
        number(at: directory, count: 2).map { directory + 2 + 12 * $0 }
    }

    private func entry(of tag: Int, in directory: Int) -> Int? {
        entries(of: directory).lazy.map { directory + 2 + 12 * $0 }.first { number(at: $0, count: 2) == tag }
    }

    private func value(of tag: Int, in directory: Int?) -> Int? {
        guard let entry = directory.flatMap({ entry(of: tag, in: $0) }) else { return nil }
        return number(at: entry + 8, count: isShort(entry) ? 2 : 4)
    }

    private func isShort(_ entry: Int) -> Bool { number(at: entry + 2, count: 2) == 3 }

    private mutating func set(_ tag: Int, in directory: Int?, to value: Int) {
        guard let entry = directory.flatMap({ entry(of: tag, in: $0) }),
            let type = number(at: entry + 2, count: 2), [3, 4].contains(type)
        else { return }
        write(value, at: entry + 8, count: type == 3 ? 2 : 4)
    }

    /// Sets a directory and the values that it refers to to zero.
    private mutating func clearDirectory(_ directory: Int, within budget: inout Int) {
        let count = entries(of: directory).count
        for index in 0..<count {
            let entry = directory + 2 + 12 * index
            guard let type = number(at: entry + 2, count: 2), let size = ExifTags.typeSizes[type],
                let valueCount = number(at: entry + 4, count: 4), let place = number(at: entry + 8, count: 4),
                valueCount < bytes.count, valueCount * size > 4
            else { continue }
            budget -= min(valueCount * size, bytes.count)
            guard budget > 0 else { return }
            clear(place, count: valueCount * size)
        }
        clear(directory, count: 2 + 12 * count + 4)
    }

    // MARK: Bytes

    private func number(at offset: Int, count: Int) -> Int? {
        guard offset >= 0, start + offset + count <= bytes.count else { return nil }
        let part = bytes[(start + offset)..<(start + offset + count)]
        return isLittleEndian ? part.reversed().reduce(0) { $0 << 8 | Int($1) } : part.reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func write(_ value: Int, at offset: Int, count: Int) {
        guard offset >= 0, start + offset + count <= bytes.count else { return }
        for index in 0..<count {
            let shift = 8 * (isLittleEndian ? index : count - 1 - index)
            bytes[start + offset + index] = UInt8(truncatingIfNeeded: value >> shift)
        }
    }

    /// Sets bytes behind the header to zero; those at the end of the block are cut off.
    private mutating func clear(_ offset: Int, count: Int) {
        guard offset >= 8, start + offset < bytes.count, count > 0 else { return }
        let end = min(bytes.count, start + offset + count)
        if end == bytes.count {
            bytes.removeLast(end - start - offset)
        } else {
            for index in (start + offset)..<end { bytes[index] = 0 }
        }
    }
}
