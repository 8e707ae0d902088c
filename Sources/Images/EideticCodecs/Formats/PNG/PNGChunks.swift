import CDeflate

/// The sequence of chunks of a PNG.
///
/// - SeeAlso: PNG (third edition), section 5.3.
package struct PNGChunks: Sequence, IteratorProtocol {
    /// One chunk, or the part of it that the bytes contain.
    package struct Chunk {
        /// The chunk type: four letters.
        package let name: String
        /// The content; shorter than its declared length only if ``isComplete`` is false.
        package let content: UnsafeRawBufferPointer
        /// The offset of the chunk, which starts with its length.
        package let offset: Int
        /// A Boolean value indicating whether the content and the checksum are complete.
        package let isComplete: Bool
        /// The stored checksum.
        let checksum: Int?

        /// A Boolean value indicating whether a decoder that does not know the chunk may show the image.
        var isAncillary: Bool { name.utf8.first.map { $0 & 0x20 != 0 } ?? false }

        /// A Boolean value indicating whether the stored checksum matches the name and content.
        var hasValidChecksum: Bool {
            let nameChecksum = Array(name.utf8).withUnsafeBytes { libdeflate_crc32(0, $0.baseAddress, $0.count) }
            return Int(libdeflate_crc32(nameChecksum, content.baseAddress, content.count)) == checksum
        }
    }

    private let bytes: UnsafeRawBufferPointer
    private var offset: Int

    /// Creates the sequence of the chunks from an offset on: by default, of all.
    package init(_ bytes: UnsafeRawBufferPointer, from offset: Int = 8) { (self.bytes, self.offset) = (bytes, offset) }

    /// Returns `true` if the chunks before the pixels announce an animation; otherwise, `false`.
    static func announceFrames(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var offset = 8
        // Names as numbers, and a bound: a file of millions of chunks keeps no thread busy.
        for _ in 0..<maximumSearchCount {
            guard let length = bytes.bigEndian32(at: offset), let name = bytes.bigEndian32(at: offset + 4),
                name != 0x4944_4154
            else { return false }
            if name == 0x6163_544c { return true }
            offset += length + 12
        }
        return false
    }

    /// The largest number of chunks in which the announcement of frames is searched.
    private static let maximumSearchCount = 4_096

    /// Returns the next chunk; `nil` if its length and name are incomplete.
    package mutating func next() -> Chunk? {
        guard let length = bytes.bigEndian32(at: offset), let name = bytes.slice(at: offset + 4, count: 4) else {
            return nil
        }
        let available = bytes.count - offset - 8
        let content = bytes.slice(at: offset + 8, count: Swift.min(length, available))
        let chunk = Chunk(
            name: String(decoding: name, as: UTF8.self),
            content: content ?? UnsafeRawBufferPointer(start: nil, count: 0),
            offset: offset,
            isComplete: available >= length + 4,
            checksum: bytes.bigEndian32(at: offset + 8 + length)
        )
        offset += 12 + length
        return chunk
    }
}

struct PNGChunkWriter {
    /// The file so far.
    private(set) var bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

    /// Appends a chunk with its length and checksum.
    mutating func append(_ name: String, content: some Collection<UInt8>) {
        let start = bytes.count + 4
        bytes += Self.number(content.count) + name.utf8
        bytes += content
        let checksum = bytes[start...].withUnsafeBytes { libdeflate_crc32(0, $0.baseAddress, $0.count) }
        bytes += Self.number(Int(checksum))
    }

    /// Appends whole chunks.
    mutating func append(chunks: [UInt8]) { bytes += chunks }

    /// Returns a number as four bytes, the most significant one first.
    static func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 255) } }
}
