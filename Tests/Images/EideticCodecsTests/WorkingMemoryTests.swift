import EideticCodecs
import EideticCore
import Testing

@Suite("Peak memory of a decode")
struct WorkingMemoryTests {
    @Test("F07 a JPEG with one scan reserves no memory for coefficients") func jpeg() throws {
        let baseline = try Fixture.encode(try TestImages.photo(width: 160, height: 120), as: .jpeg)
        #expect(try ImageDecoder.workingMemory(for: baseline) == 4 * 160 * 120)
        // A progressive frame header; the decoder stores three 16-bit coefficients per pixel.
        var progressive = baseline
        let frame = try #require(progressive.indices.first { progressive[$0...].starts(with: [0xff, 0xc0]) })
        progressive[frame + 1] = 0xc2
        #expect(try ImageDecoder.workingMemory(for: progressive) == 10 * 160 * 120)
    }

    @Test("F07 a GIF reserves memory for the indices of a frame larger than its canvas") func gif() throws {
        var gif = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0] + [0, 0, 0, 255, 255, 255]
        gif += [0x2c, 0, 0, 0, 0, 0, 4, 0, 4, 0, 2, 1, 0x44, 0, 0x3b]
        #expect(try ImageDecoder.workingMemory(for: gif) >= 1_024 * 1_024)
    }
}
