import CDeflate

/// A writer of PNG files, chunk by chunk, for valid and invalid files.
struct PNGWriter {
    private(set) var bytes: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

    init(width: Int, height: Int, depth: UInt8 = 8, colorType: UInt8 = 2, interlace: UInt8 = 0) {
        addChunk("IHDR", content: bigEndian(width) + bigEndian(height) + [depth, colorType, 0, 0, interlace])
    }

    /// The complete file.
    var finished: [UInt8] {
        var writer = self
        writer.addChunk("IEND", content: [])
        return writer.bytes
    }

    mutating func addChunk(_ name: String, content: [UInt8], hasWrongChecksum: Bool = false) {
        let body = Array(name.utf8) + content
        bytes += bigEndian(content.count) + body + bigEndian(Int(Self.checksum(of: body)) ^ (hasWrongChecksum ? 1 : 0))
    }

    /// Adds the pixels, uncompressed; each row starts with its filter type.
    mutating func addPixels(_ rows: [UInt8]) { addChunk("IDAT", content: Self.zlibStream(of: rows)) }

    func bigEndian(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }

    /// Returns content as stored blocks of a deflate stream.
    static func storedBlocks(of content: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = []
        var start = 0
        repeat {
            let end = min(start + 65_535, content.count), length = end - start
            stream += [end == content.count ? 1 : 0, UInt8(length & 255), UInt8(length >> 8)]
            stream += [~UInt8(length & 255), ~UInt8(length >> 8)] + content[start..<end]
            start = end
        } while start < content.count
        return stream
    }

    /// Returns a zlib stream of stored blocks.
    static func zlibStream(of content: [UInt8]) -> [UInt8] {
        let sum = content.withUnsafeBytes { libdeflate_adler32(1, $0.baseAddress, $0.count) }
        return [0x78, 0x01] + storedBlocks(of: content)
            + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> $0) }
    }

    static func checksum(of bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { libdeflate_crc32(0, $0.baseAddress, $0.count) }
    }
}
