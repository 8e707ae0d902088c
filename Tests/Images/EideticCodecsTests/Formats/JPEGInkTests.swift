import EideticCodecs
import EideticCore
import FoundationEssentials
import Testing

@Suite("Inks of JPEG", .timeLimit(.minutes(1)))
struct JPEGInkTests {
    @Test("F02 a CMYK JPEG is inverted with and without Adobe's marker", arguments: [true, false])
    func inks(hasMarker: Bool) throws {
        // 8 x 8 pixels of Pillow's Image.new("CMYK", …, (205, 57, 103, 0)), without its APP14.
        let data = """
            /9j/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/wAAUCAAI
            AAgEQxEATREAWREASxEA/8QAFQABAQAAAAAAAAAAAAAAAAAABwX/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oADgRDAE0AWQBLAAA/ADEj
            LB/f/9k=
            """
        var file = Array(Data(base64Encoded: data, options: .ignoreUnknownCharacters) ?? Data())
        let marker: [UInt8] = [0xff, 0xee, 0, 14] + Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0]
        if hasMarker { file.insert(contentsOf: marker, at: 2) }
        // Chromium 156 and Pillow.
        let pixel = try ImageDecoder.decode(file, options: DecodeOptions()).pixels[0, 0]
        #expect(pixel == [50, 198, 152, 255])
    }

    /// Chromium 156 shows both.
    @Test("F02 a segment without a length is empty, and the signature of EXIF ends with any byte") func segments()
        throws
    {
        let file = try Fixture.encode(try TestImages.photo(width: 16, height: 8), as: .jpeg)
        let exif: [UInt8] =
            Array("Exif\0".utf8) + [0xff] + Array("MM\0*".utf8)
            + [0, 0, 0, 8, 0, 1, 1, 18, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
        for head in [[0xff, 0xfe, 0, 0], [0xff, 0xfe, 0, 1]] as [[UInt8]] {
            let image = try ImageDecoder.decode(file[..<2] + head + file[2...])
            #expect(image.size == PixelSize(width: 16, height: 8))
        }
        let turned = try ImageDecoder.decode(file[..<2] + [0xff, 0xe1, 0, UInt8(exif.count + 2)] + exif + file[2...])
        #expect(turned.size == PixelSize(width: 8, height: 16))
    }
}
