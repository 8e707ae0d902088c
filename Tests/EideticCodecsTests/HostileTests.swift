import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

@Suite("Hostile files", .timeLimit(.minutes(5)))
struct HostileTests {
    private func refusal(_ bytes: [UInt8]) -> EideticError.Code? {
        code { () throws(EideticError) in _ = try ImageDecoder.header(of: bytes) }
    }

    @Test("F07 a TIFF whose library would end the process for want of memory is refused") func jbig() {
        // 2³¹ x 2³¹ pixels, says the compressed data.
        let strip: [UInt8] = [0, 0, 1, 0] + [0x7f, 0xff, 0xff, 0xff] + [0x7f, 0xff, 0xff, 0xff] + [0, 0, 0, 64]
        let tiff = TIFFWriter(
            width: 64,
            height: 64,
            bits: 1,
            photometric: 0,
            compression: 34_661,
            strip: strip + [8, 0, 0, 0] + Array(repeating: 0, count: 64)
        )
        let found = code { () throws(EideticError) in _ = try ImageDecoder.decode(tiff.finished) }
        #expect(found == .unsupportedFormat)
    }

    @Test("F07 a list of very many frames is refused before it is made") func frames() {
        let frame: [UInt8] = [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 0]
        let head = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0] + [0, 0, 0, 255, 255, 255]
        #expect(refusal(head + (0..<65_536).flatMap { _ in frame }) == nil)
        #expect(refusal(head + (0..<65_537).flatMap { _ in frame }) == .limitExceeded)
    }

    @Test(
        "F07 the durations of very many AVIF frames are not counted for minutes",
        .needsCorpus,
        .enabled(if: ImageDecoder.supportedFormats.contains(.avif), "this build does not decode AVIF")
    )
    func sequences() throws {
        let bytes = try Corpus.bytes("libavif/data/colors-animated-8bpc.avif")
        let many = try #require(try ImageDecoder.header(of: Self.announcing(40_000, in: bytes)))
        let few = try #require(try ImageDecoder.header(of: bytes))
        #expect(many.frameCount == 40_000 && many.durations.count == 40_000)
        #expect(many.durations.first == few.durations.first && many.durations.last == few.durations.last)
        #expect(refusal(try Self.announcing(100_000, in: bytes)) == .limitExceeded)
    }

    @Test("F02 alpha that a WebP's header denies is not shown") func deniedAlpha() throws {
        var bytes = try Fixture.encode(try Pictures.photo(37, 23, alpha: .straight), .webp)
        #expect(try ImageDecoder.decode(bytes).pixels.alpha != .opaque)
        // The flags of the extended header, which is the first chunk.
        bytes[20] &= ~0x10
        let pixels = try ImageDecoder.decode(bytes).pixels
        #expect(pixels.alpha == .opaque)
        #expect(pixels.bytes.enumerated().allSatisfy { $0.offset % 4 != 3 || $0.element == 255 })
    }

    /// The same AVIF sequence with so many frames of one byte.
    private static func announcing(_ count: Int, in sequence: [UInt8]) throws -> [UInt8] {
        func big(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        func place(_ name: String) throws -> Int {
            let name = Array(name.utf8)
            return try #require(sequence.indices.first { sequence[$0...].starts(with: name) })
        }
        var bytes = sequence
        let sizes = try place("stsz") + 8, chunks = try place("stsc") + 16
        bytes.replaceSubrange(sizes..<sizes + 8, with: big(1) + big(count))
        bytes.replaceSubrange(chunks..<chunks + 4, with: big(count))
        return bytes + Array(repeating: 0, count: count)
    }
}

@Suite("Memory that a decode asks for")
struct WorkingMemoryTests {
    @Test("F07 a JPEG with one scan asks for no coefficients") func jpeg() throws {
        let baseline = try Fixture.encode(try Pictures.photo(160, 120), .jpeg)
        #expect(try ImageDecoder.memory(for: baseline) == 4 * 160 * 120)
        // The frame header of a progressive one, which keeps three numbers of two bytes a pixel.
        var progressive = baseline
        let frame = try #require(progressive.indices.first { progressive[$0...].starts(with: [0xff, 0xc0]) })
        progressive[frame + 1] = 0xc2
        #expect(try ImageDecoder.memory(for: progressive) == 10 * 160 * 120)
    }

    @Test("F07 a GIF asks for the numbers of a frame larger than its canvas") func gif() throws {
        var gif = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0] + [0, 0, 0, 255, 255, 255]
        gif += [0x2c, 0, 0, 0, 0, 0, 4, 0, 4, 0, 2, 1, 0x44, 0, 0x3b]
        #expect(try ImageDecoder.memory(for: gif) >= 1_024 * 1_024)
    }
}
