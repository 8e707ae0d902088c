import EideticCodecs
import EideticCore
import Testing

@Suite("Headers", .timeLimit(.minutes(5)))
struct HeaderTests {
    @Test("F01 the first bytes give the header or nil, and never an error", arguments: Fixture.everyFormat)
    func beginnings(_ fixture: Fixture) throws {
        let fullHeader = try #require(try ImageDecoder.header(of: fixture.bytes))
        #expect(fullHeader.format == fixture.format)
        var known: Int?
        for length in 0...fixture.bytes.count {
            let header = try ImageDecoder.header(of: Array(fixture.bytes.prefix(length)), isComplete: false)
            guard let header else {
                #expect(known == nil, "the header is known after \(known ?? 0) bytes, but not after \(length)")
                continue
            }
            known = known ?? length
            #expect(header.size == fullHeader.size && header.orientation == fullHeader.orientation)
            #expect(header.frameCount <= fullHeader.frameCount)
        }
        // The size of an SVG can depend on a style sheet at its end.
        if fixture.format != .svg { #expect((known ?? .max) < fixture.bytes.count) }
    }

    @Test("F01 truncated and unknown bytes are different errors") func unknown() {
        func headerErrorCode(for bytes: [UInt8]) -> EideticError.Code? {
            errorCode { () throws(EideticError) in _ = try ImageDecoder.header(of: bytes) }
        }
        #expect(headerErrorCode(for: []) == .truncated)
        #expect(headerErrorCode(for: Array("RIFF\0\0\0\0WEB".utf8)) == .truncated)
        #expect(headerErrorCode(for: Array("RIFF\0\0\0\0WAVE".utf8)) == .notAnImage)
        #expect(headerErrorCode(for: Array("<!DOCTYPE html><p>No such image</p>".utf8)) == .notAnImage)
    }

    @Test("F02 Apple's CgBI PNGs are refused, not decoded with wrong colours") func apple() {
        var bytes = PNGWriter(width: 1, height: 1).finished
        bytes.replaceSubrange(8..<8, with: [0, 0, 0, 4] + Array("CgBI".utf8) + [0, 0, 0, 0] + [0, 0, 0, 0])
        #expect(errorCode { () throws(EideticError) in _ = try ImageDecoder.decode(bytes) } == .unsupportedFormat)
    }

    @Test("C15 a name's scale is found before its extension") func scale() throws {
        #expect(ImageScale.scale(fromName: "https://a.example/icon@2x.png?w=1") == 2)
        #expect(ImageScale.scale(fromName: "https://a.example/icon%403x.webp") == 3)
        #expect(ImageScale.scale(fromName: "https://a.example/icon@2x/plain.png") == 1)
        #expect(ImageScale.scale(fromName: "https://a.example/@2x.d/plain.png") == 1)
        #expect(ImageScale.scale(fromName: "icon.png?name=@2x.png") == 1)
        let image = try ImageDecoder.decode(Fixture.standard[0].bytes, options: .with { $0.scale = 2 })
        #expect(image.scale == 2)
    }
}
