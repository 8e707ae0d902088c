import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

@Suite("Hostile files", .timeLimit(.minutes(5)))
struct HostileTests {
    private func headerErrorCode(for bytes: [UInt8]) -> EideticError.Code? {
        errorCode { () throws(EideticError) in _ = try ImageDecoder.header(of: bytes) }
    }

    @Test("F07 a TIFF for which libtiff would abort the process out of memory is refused") func jbig() {
        // The compressed data declares 2³¹ x 2³¹ pixels.
        let strip: [UInt8] = [0, 0, 1, 0] + [0x7f, 0xff, 0xff, 0xff] + [0x7f, 0xff, 0xff, 0xff] + [0, 0, 0, 64]
        let tiff = TIFFWriter(
            width: 64,
            height: 64,
            bits: 1,
            photometric: 0,
            compression: 34_661,
            strip: strip + [8, 0, 0, 0] + Array(repeating: 0, count: 64)
        )
        let thrown = errorCode { () throws(EideticError) in _ = try ImageDecoder.decode(tiff.finished) }
        #expect(thrown == .unsupportedFormat)
    }

    @Test("F07 too many frames are refused before their list is built") func frames() {
        let frame: [UInt8] = [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 0]
        let head = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0] + [0, 0, 0, 255, 255, 255]
        #expect(headerErrorCode(for: head + (0..<65_536).flatMap { _ in frame }) == nil)
        #expect(headerErrorCode(for: head + (0..<65_537).flatMap { _ in frame }) == .limitExceeded)
    }

    @Test(
        "F07 the durations of 40,000 AVIF frames are read in linear time",
        .needsCorpus,
        .enabled(if: ImageDecoder.supportedFormats.contains(.avif), "this build does not decode AVIF")
    )
    func sequences() throws {
        let bytes = try Corpus.bytes(of: "libavif/data/colors-animated-8bpc.avif")
        let manyFrames = try #require(try ImageDecoder.header(of: Self.declaring(frameCount: 40_000, in: bytes)))
        let fewFrames = try #require(try ImageDecoder.header(of: bytes))
        #expect(manyFrames.frameCount == 40_000 && manyFrames.durations.count == 40_000)
        #expect(
            manyFrames.durations.first == fewFrames.durations.first
                && manyFrames.durations.last == fewFrames.durations.last
        )
        #expect(headerErrorCode(for: try Self.declaring(frameCount: 100_000, in: bytes)) == .limitExceeded)
    }

    @Test("F02 alpha that a WebP's header does not declare is ignored") func deniedAlpha() throws {
        var bytes = try Fixture.encode(try TestImages.photo(width: 37, height: 23, alpha: .straight), as: .webp)
        #expect(try ImageDecoder.decode(bytes).pixels.alpha != .opaque)
        // The flags of the extended header, which is the first chunk.
        bytes[20] &= ~0x10
        let pixels = try ImageDecoder.decode(bytes).pixels
        #expect(pixels.alpha == .opaque)
        #expect(pixels.bytes.enumerated().allSatisfy { $0.offset % 4 != 3 || $0.element == 255 })
    }

    /// Returns the AVIF sequence with `count` frames of one byte each.
    private static func declaring(frameCount count: Int, in sequence: [UInt8]) throws -> [UInt8] {
        func bigEndian(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        func offset(of name: String) throws -> Int {
            let name = Array(name.utf8)
            return try #require(sequence.indices.first { sequence[$0...].starts(with: name) })
        }
        var bytes = sequence
        let sizes = try offset(of: "stsz") + 8, chunks = try offset(of: "stsc") + 16
        bytes.replaceSubrange(sizes..<sizes + 8, with: bigEndian(1) + bigEndian(count))
        bytes.replaceSubrange(chunks..<chunks + 4, with: bigEndian(count))
        return bytes + Array(repeating: 0, count: count)
    }
}
