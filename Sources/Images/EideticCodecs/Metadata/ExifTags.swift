/// The tags of an EXIF block, or of a TIFF file, from which a block is made.
///
/// Reads the first directory and those of the photograph and the position, and follows no offset outside the bytes.
/// Values that are too large for a segment of JPEG are left out.
///
/// - SeeAlso: Exif 2.32, section 4.6; TIFF 6.0, section 2.
struct ExifTags {
    /// A tag, whose values are in the byte order of the structure.
    private struct Tag {
        let number: Int
        let type: Int
        let count: Int
        let value: [UInt8]
    }

    private var image: [Tag] = []
    /// The tags that describe how it was taken.
    private var photograph: [Tag] = []
    /// The tags of the place where it was taken.
    private var position: [Tag] = []
    private let isLittleEndian: Bool

    private static let photographLink = 0x8769
    private static let positionLink = 0x8825
    private static let entryByteCount = 12
    /// The largest sum of the tags and their values; a segment of JPEG has 65,533 bytes.
    private static let maximumByteCount = 60_000
    /// The sizes of the types, in bytes.
    static let typeSizes = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8]

    /// Reads the tags of a structure that are wanted.
    ///
    /// - Returns: `nil` if the header is invalid, or that of a BigTIFF.
    private init?(
        _ reader: Reader,
        image isOfImage: (Int) -> Bool,
        photograph isOfPhotograph: (Int) -> Bool,
        keepsPosition: Bool
    ) {
        guard let first = reader.long(at: 4) else { return nil }
        isLittleEndian = reader.isLittleEndian
        var room = Self.maximumByteCount
        func link(_ number: Int) -> [Tag] {
            var size = Self.entryByteCount + 4
            return reader.tags(at: first, room: &size) { $0 == number }
        }
        image = reader.tags(at: first, room: &room, where: isOfImage)
        for link in link(Self.photographLink) {
            photograph = reader.tags(at: reader.number(link.value), room: &room, where: isOfPhotograph)
        }
        for link in link(Self.positionLink) where keepsPosition {
            position = reader.tags(at: reader.number(link.value), room: &room) { _ in true }
        }
    }

    /// The block with these tags; `nil` if there are none.
    private var block: [UInt8]? {
        let parts = [(Self.photographLink, photograph), (Self.positionLink, position)].filter { !$0.1.isEmpty }
        guard !image.isEmpty || !parts.isEmpty else { return nil }
        var first = image + parts.map { Tag(number: $0.0, type: 4, count: 1, value: []) }
        var offset = 8 + Self.byteCount(of: first)
        for (number, tags) in parts {
            first.removeAll { $0.number == number }
            first.append(Tag(number: number, type: 4, count: 1, value: bytes(of: offset, count: 4)))
            offset += Self.byteCount(of: tags)
        }
        var block = Array(isLittleEndian ? "II".utf8 : "MM".utf8) + bytes(of: 42, count: 2) + bytes(of: 8, count: 4)
        for tags in [first] + parts.map(\.1) { append(tags, to: &block) }
        return block
    }

    private func append(_ tags: [Tag], to block: inout [UInt8]) {
        var values: [UInt8] = []
        let start = block.count + Self.headCount(of: tags)
        block += bytes(of: tags.count, count: 2)
        for tag in tags.sorted(by: { $0.number < $1.number }) {
            block += bytes(of: tag.number, count: 2) + bytes(of: tag.type, count: 2) + bytes(of: tag.count, count: 4)
            if tag.value.count <= 4 {
                block += tag.value + [UInt8](repeating: 0, count: 4 - tag.value.count)
            } else {
                block += bytes(of: start + values.count, count: 4)
                values += tag.value + (tag.value.count.isMultiple(of: 2) ? [] : [0])
            }
        }
        block += bytes(of: 0, count: 4) + values
    }

    /// The number of tags, the tags, and the link to the next directory.
    private static func headCount(of tags: [Tag]) -> Int { 2 + 12 * tags.count + 4 }

    private static func byteCount(of tags: [Tag]) -> Int {
        headCount(of: tags) + tags.reduce(0) { $1.value.count > 4 ? $0 + ($1.value.count + 1) / 2 * 2 : $0 }
    }

    private func bytes(of number: Int, count: Int) -> [UInt8] {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        return isLittleEndian ? bytes : bytes.reversed()
    }

    /// The numbers in a structure.
    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        let isLittleEndian: Bool

        init?(_ bytes: UnsafeRawBufferPointer) {
            self.bytes = bytes
            isLittleEndian = bytes.contains("II")
            guard isLittleEndian || bytes.contains("MM"), short(at: 2) == 42 else { return nil }
        }

        func short(at offset: Int) -> Int? {
            isLittleEndian ? bytes.littleEndian16(at: offset) : bytes.bigEndian16(at: offset)
        }

        func long(at offset: Int) -> Int? {
            isLittleEndian ? bytes.littleEndian32(at: offset) : bytes.bigEndian32(at: offset)
        }

        func number(_ value: [UInt8]) -> Int {
            (isLittleEndian ? value.reversed() : value).reduce(0) { $0 << 8 | Int($1) }
        }

        /// Returns the wanted tags of a directory; `room` is the number of bytes that they and their values may have.
        func tags(at offset: Int, room: inout Int, where isWanted: (Int) -> Bool) -> [Tag] {
            var tags: [Tag] = []
            for index in 0..<min(short(at: offset) ?? 0, 1_024) {
                let entry = offset + 2 + 12 * index
                guard let number = short(at: entry), isWanted(number), let type = short(at: entry + 2),
                    let size = typeSizes[type], let count = long(at: entry + 4), count <= room
                else { continue }
                guard let place = count * size <= 4 ? entry + 8 : long(at: entry + 8),
                    count * size + entryByteCount <= room,
                    let value = bytes.slice(at: place, count: count * size)
                else { continue }
                room -= value.count + entryByteCount
                tags.append(Tag(number: number, type: type, count: count, value: Array(value)))
            }
            return tags
        }
    }
}

extension ExifTags {
    /// The tags of a TIFF file that describe the image, and not how the file stores it.
    ///
    /// - SeeAlso: Exif 2.32, section 4.6.4; for 0x9c9b and the following ones, Windows' property system.
    private static let describing: Set<Int> = [
        0x010e, 0x010f, 0x0110, 0x0112, 0x011a, 0x011b, 0x0128, 0x0131, 0x0132, 0x013b, 0x013c, 0x4746, 0x4749, 0x8298,
        0x9c9b, 0x9c9c, 0x9c9d, 0x9c9e, 0x9c9f,
    ]

    /// Values with offsets that count from the start of their own file: notes of the camera's maker, and the directory
    /// of interoperability.
    private static let bound: Set<Int> = [0x927c, 0xa005]

    private static let xmp = 700

    static func metadata(ofTIFF file: UnsafeRawBufferPointer) -> ImageMetadata {
        guard let reader = Reader(file) else { return ImageMetadata() }
        let tags = ExifTags(
            reader,
            image: describing.contains,
            photograph: { !bound.contains($0) },
            keepsPosition: true
        )
        var room = ICCProfile.maximumSize
        let packet = reader.tags(at: reader.long(at: 4) ?? 0, room: &room) { $0 == xmp }.first
        return ImageMetadata(exif: tags?.block, xmp: packet?.value)
    }

    private static let orientation = 0x0112

    /// Returns the block with the orientation and the tags of these numbers alone, and with the position if that is
    /// wanted.
    ///
    /// - Returns: `nil` if there are none but the orientation.
    static func block(of exif: [UInt8], keeping numbers: Set<Int>, keepsPosition: Bool) -> [UInt8]? {
        exif.withUnsafeBytes { bytes in
            let start = bytes.contains("Exif\0\0") ? 6 : 0
            guard let reader = Reader(UnsafeRawBufferPointer(rebasing: bytes[start...])) else { return nil }
            let tags = ExifTags(
                reader,
                image: { numbers.contains($0) || $0 == orientation },
                photograph: { numbers.contains($0) && !bound.contains($0) },
                keepsPosition: keepsPosition
            )
            return tags.flatMap { tags in
                let isEmpty = tags.photograph.isEmpty && tags.position.isEmpty
                return isEmpty && tags.image.allSatisfy { $0.number == orientation } ? nil : tags.block
            }
        }
    }
}
