import CDeflate

/// Walks over the chunks of a PNG.
///
/// - SeeAlso: PNG (third edition), section 5.3.
struct PNGChunks: Sequence, IteratorProtocol {
    /// One chunk, or as much of its content as the bytes hold.
    struct Chunk {
        /// Four letters.
        let name: String
        /// The content; shorter than announced only where ``isComplete`` is false.
        let content: UnsafeRawBufferPointer
        /// Where the chunk begins, with its length.
        let offset: Int
        /// Whether content and checksum are there.
        let isComplete: Bool
        /// The stored checksum.
        let checksum: Int?

        /// Whether name and content are what was written.
        var hasValidChecksum: Bool {
            let nameChecksum = Array(name.utf8).withUnsafeBytes { libdeflate_crc32(0, $0.baseAddress, $0.count) }
            return Int(libdeflate_crc32(nameChecksum, content.baseAddress, content.count)) == checksum
        }
    }

    private let bytes: UnsafeRawBufferPointer
    private var offset = 8

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The next chunk; `nil` where not even its head is there.
    mutating func next() -> Chunk? {
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
