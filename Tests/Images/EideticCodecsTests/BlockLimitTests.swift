import EideticCodecs
import EideticCore
import Testing

@Suite("Limits of chunks, scans and directories", .timeLimit(.minutes(5)))
struct BlockLimitTests {
    private static let maximum = 1 << 18

    private func headerErrorCode(for bytes: [UInt8]) -> EideticError.Code? {
        errorCode { () throws(EideticError) in _ = try ImageDecoder.header(of: bytes) }
    }

    /// Returns the code of the header's error for one block less than the limit, for the limit, and for one more.
    private func codes(_ makeFile: (_ blockCount: Int) -> [UInt8]) -> [EideticError.Code?] {
        (-1...1).map { headerErrorCode(for: makeFile(Self.maximum + $0)) }
    }

    @Test("C18 the number of chunks of a PNG is limited") func png() {
        var chunk = PNGWriter(width: 1, height: 1)
        chunk.addChunk("tRNS", content: [])
        let empty = Array(chunk.bytes.suffix(12))
        let codes = codes { count in
            var file = PNGWriter(width: 1, height: 1)
            file.addPixels([0, 1, 2, 3])
            // The header, the pixels and the end are chunks too.
            return Array(file.bytes.prefix(33)) + Array(repeating: empty, count: count - 3).flatMap { $0 }
                + file.finished.dropFirst(33)
        }
        #expect(codes == [nil, nil, .limitExceeded])
    }

    @Test("C18 the first transparency of a PNG counts") func transparency() throws {
        var png = PNGWriter(width: 1, height: 1)
        png.addChunk("tRNS", content: [0, 1, 0, 2, 0, 3])
        png.addChunk("tRNS", content: [0, 9, 0, 9, 0, 9])
        png.addPixels([0, 1, 2, 3])
        #expect(try ImageDecoder.decode(png.finished).pixels[0, 0].w == 0)
    }

    @Test("C18 the number of blocks of a GIF is limited") func gif() {
        let head = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0] + [0, 0, 0, 255, 255, 255]
        let frame: [UInt8] = [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0], comment: [UInt8] = [0x21, 0xfe, 0]
        let codes = codes { count in
            // The frame and the trailer are blocks too.
            head + frame + Array(repeating: comment, count: count - 2).flatMap { $0 } + [0x3b]
        }
        #expect(codes == [nil, nil, .limitExceeded])
    }

    @Test("C18 the number of chunks of a WebP is limited") func webp() throws {
        let file = try Fixture.encode(try TestImages.photo(width: 8, height: 8), as: .webp)
        let chunk = Array("abcd".utf8) + [0, 0, 0, 0]
        let codes = codes { count in
            let body = Array(file[8...]) + Array(repeating: chunk, count: count - 1).flatMap { $0 }
            return Array("RIFF".utf8) + (0..<4).map { UInt8(truncatingIfNeeded: body.count >> (8 * $0)) } + body
        }
        #expect(codes == [nil, nil, .limitExceeded])
    }

    @Test("C18 the number of entries of a TIFF's directory is limited", arguments: [-1, 0, 1])
    func tiff(beyond: Int) {
        var file = TIFFWriter(width: 1, height: 1, bits: 8, photometric: 1, compression: 1, strip: [7])
        // Nine entries are always there.
        for _ in 0..<4_096 + beyond - 9 { file.add(tag: 65_000, value: 1) }
        #expect(headerErrorCode(for: file.finished) == (beyond > 0 ? .limitExceeded : nil))
    }

    @Test("C18 the number of scans of a JPEG is limited", arguments: [99, 100, 101])
    func jpeg(scanCount: Int) {
        func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
            [0xff, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 255)] + content
        }
        // A code of one bit: no difference, and the end of a block.
        let codes: [UInt8] = [1] + Array(repeating: 0, count: 15) + [0]
        var file: [UInt8] = [0xff, 0xd8] + segment(0xdb, [0] + Array(repeating: 1, count: 64))
        file += segment(0xc2, [8, 0, 8, 0, 8, 1, 1, 0x11, 0])
        file += segment(0xc4, [0x00] + codes) + segment(0xc4, [0x10] + codes)
        file += segment(0xda, [1, 1, 0, 0, 0, 0]) + [0x7f]
        for _ in 1..<scanCount { file += segment(0xda, [1, 1, 0, 1, 63, 0]) + [0x7f] }
        file += [0xff, 0xd9]
        let code = errorCode { () throws(EideticError) in _ = try ImageDecoder.decode(file) }
        #expect(code == (scanCount > 100 ? .limitExceeded : nil))
    }
}
