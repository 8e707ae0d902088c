import CDeflate

/// A writer of the chunks of a PNG.
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

    /// Returns a number as four bytes, the most significant one first.
    static func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 255) } }
}
