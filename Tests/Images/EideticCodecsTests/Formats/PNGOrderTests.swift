import EideticCodecs
import EideticCore
import Testing

@Suite("Order of PNG chunks")
struct PNGOrderTests {
    private func decode(_ bytes: [UInt8]) throws(EideticError) -> PixelBuffer {
        try ImageDecoder.decode(bytes, options: .stored).pixels
    }

    /// Returns a PNG of one red pixel with a chunk before its header.
    private func file(before name: String, hasWrongChecksum: Bool = false) -> [UInt8] {
        var png = PNGWriter(width: 1, height: 1)
        png.addPixels([0, 255, 0, 0])
        var first = PNGWriter(width: 1, height: 1)
        let length = first.bytes.count
        first.addChunk(name, content: [1, 2, 3], hasWrongChecksum: hasWrongChecksum)
        return Array(png.finished.prefix(8)) + first.bytes.dropFirst(length) + png.finished.dropFirst(8)
    }

    @Test("F02 an unknown ancillary chunk before the header is skipped, as in browsers", arguments: [false, true])
    func unknownChunk(hasWrongChecksum: Bool) throws {
        let bytes = file(before: "prVt", hasWrongChecksum: hasWrongChecksum)
        #expect(try ImageDecoder.header(of: bytes)?.size == PixelSize(width: 1, height: 1))
        #expect(try decode(bytes)[0, 0] == [255, 0, 0, 255])
    }

    @Test("F07 a critical or a known chunk before the header is an error", arguments: ["ABCD", "tEXt", "gAMA", "PLTE"])
    func knownChunk(name: String) {
        #expect(errorCode { () throws(EideticError) in _ = try decode(file(before: name)) } == .corrupt)
    }

    @Test("F07 many chunks before the header are limited") func manyChunks() {
        let chunk = file(before: "prVt")[8..<8 + 15]
        let bytes = Array(file(before: "prVt").prefix(8)) + (0..<(1 << 18) + 1).flatMap { _ in chunk }
        #expect(errorCode { () throws(EideticError) in _ = try decode(bytes) } == .limitExceeded)
    }

    @Test("F07 a second palette is an error, as in browsers", arguments: [2, 3]) func secondPalette(colorType: Int) {
        var png = PNGWriter(width: 1, height: 1, colorType: UInt8(colorType))
        png.addChunk("PLTE", content: [255, 0, 0])
        png.addChunk("PLTE", content: [0, 255, 0])
        png.addPixels(colorType == 3 ? [0, 0] : [0, 1, 2, 3])
        #expect(errorCode { () throws(EideticError) in _ = try decode(png.finished) } == .corrupt)
    }
}
