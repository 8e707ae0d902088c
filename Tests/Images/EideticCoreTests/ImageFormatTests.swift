import EideticCore
import Testing

@Suite("Format detection")
struct ImageFormatTests {
    static let signatures: [(ImageFormat, [UInt8])] = [
        (.jpeg, [0xff, 0xd8, 0xff]),
        (.png, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
        (.gif, Array("GIF89a".utf8)),
        (.gif, Array("GIF87a".utf8)),
        (.webp, Array("RIFF\0\0\0\0WEBP".utf8)),
        (.tiff, [0x49, 0x49, 0x2a, 0]),
        (.tiff, [0x4d, 0x4d, 0, 0x2a]),
        (.heic, [0, 0, 0, 20] + Array("ftypmif1\0\0\0\0heic".utf8)),
        (.heic, [0, 0, 0, 16] + Array("ftypheic\0\0\0\0".utf8)),
        (.avif, [0, 0, 0, 16] + Array("ftypavif\0\0\0\0".utf8)),
        (.bmp, Array("BM".utf8)),
        (.ico, [0, 0, 1, 0]),
        (.jpegxl, [0xff, 0x0a]),
        (.svg, Array("<?xml version=\"1.0\"?>\n<!-- a --><svg xmlns=\"\">".utf8)),
        (.svg, Array("<svg>".utf8)),
        (.svg, [0x1f, 0x8b, 0x08]),
        (.svg, Array("<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"a.dtd\"><svg>".utf8)),
        (.svg, Array("\u{feff} <svg>".utf8)),
        // A mark that combines with the character before it, which may stand in a comment.
        (.svg, Array("<!--\u{301} --><svg>".utf8)),
        (.svg, Array("<svg\u{6e0}".utf8)),
        // A prefix of the namespace, which is not always "svg", and any document type.
        (.svg, Array("<svg:svg xmlns:svg=\"\">".utf8)),
        (.svg, Array("<?xml version=\"1.0\"?><!DOCTYPE ns0:svg [<!ENTITY a \"b\">]><ns0:svg ".utf8)),
        (.svg, Array("<!DOCTYPE svg [<!-- ]> it's --><!ENTITY a ']>'><?a ]>?> ] ><svg>".utf8)),
        (.svg, [0xff, 0xfe] + "<?xml?><svg>".utf16.flatMap { [UInt8($0), 0] }),
        (.svg, [0xfe, 0xff] + "<!-- \u{100} --><a:svg>".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }),
        // The profiles of MIAF with HEVC.
        (.heic, [0, 0, 0, 24] + Array("ftypmif1\0\0\0\0miafMiHB".utf8)),
    ]

    @Test("F01 a format is detected by its content", arguments: signatures)
    func recognises(_ format: ImageFormat, bytes: [UInt8]) {
        #expect(ImageFormat.detect(in: bytes) == .format(format))
        #expect(ImageFormat.detect(in: bytes + [1, 2, 3]) == .format(format))
    }

    @Test("F01 the root element of an SVG may follow a long prologue") func longProlog() {
        let bytes = Array("<!--\(String(repeating: "- ", count: 20_000))--><svg>".utf8)
        #expect(ImageFormat.detect(in: bytes) == .format(.svg))
        #expect(ImageFormat.detect(in: Array(bytes.dropLast(2))) == .needsMoreBytes)
        #expect(ImageFormat.detect(in: Array(bytes.dropLast(2)), isComplete: true) == .unknown)
        let endless = Array("<!--\(String(repeating: " ", count: 300_000))".utf8)
        #expect(ImageFormat.detect(in: endless) == .unknown)
        let marks = Array(String(repeating: "\u{feff}", count: 80_000).utf8)
        #expect(ImageFormat.detect(in: marks + Array("<svg>".utf8)) == .format(.svg))
    }

    @Test("F01 too few bytes and an unknown format are different results", arguments: signatures)
    func tooShort(_ format: ImageFormat, bytes: [UInt8]) {
        let needed = (0...bytes.count).first { ImageFormat.detect(in: Array(bytes.prefix($0))) == .format(format) }
        for length in 0..<(needed ?? 0) {
            let head = Array(bytes.prefix(length))
            #expect(ImageFormat.detect(in: head) == .needsMoreBytes, "\(length) bytes of \(format)")
            #expect(ImageFormat.detect(in: head, isComplete: true) == .unknown)
        }
    }

    @Test(
        "F01 bytes that are not an image are unknown",
        arguments: [
            "<!DOCTYPE html><html>", "<html><svg>", "<html:html>", "<a:svog>", "hello, world of text", "{\"a\": 1}",
            "%PDF-1.4 and more",
        ]
    )
    func unknown(_ text: String) {
        #expect(ImageFormat.detect(in: Array(text.utf8)) == .unknown)
    }

    @Test("F01 WebP needs twelve bytes: RIFF…WEBP")
    func webp() {
        let bytes = Array("RIFF\0\0\0\0WEBP".utf8)
        #expect(ImageFormat.detect(in: Array(bytes.prefix(11))) == .needsMoreBytes)
        #expect(ImageFormat.detect(in: bytes) == .format(.webp))
        #expect(ImageFormat.detect(in: Array("RIFF\0\0\0\0WAVE".utf8)) == .unknown)
    }

    @Test(
        "F01 each format has its media type",
        arguments: zip(
            ImageFormat.allCases,
            [
                "image/jpeg", "image/png", "image/gif", "image/webp", "image/tiff", "image/heic", "image/avif",
                "image/bmp", "image/x-icon", "image/svg+xml", "image/jxl",
            ]
        )
    )
    func mimeTypes(_ format: ImageFormat, mimeType type: String) { #expect(format.mimeType == type) }

    @Test("F01 eleven formats are known, each by its name and MIME type") func formats() {
        let formats: [(ImageFormat, String, String)] = [
            (.jpeg, "jpeg", "image/jpeg"), (.png, "png", "image/png"), (.gif, "gif", "image/gif"),
            (.webp, "webp", "image/webp"), (.tiff, "tiff", "image/tiff"), (.heic, "heic", "image/heic"),
            (.avif, "avif", "image/avif"), (.bmp, "bmp", "image/bmp"), (.ico, "ico", "image/x-icon"),
            (.svg, "svg", "image/svg+xml"), (.jpegxl, "jpegxl", "image/jxl"),
        ]
        for (format, name, type) in formats {
            #expect(format.rawValue == name)
            #expect(format.mimeType == type)
        }
        #expect(ImageFormat.allCases == formats.map(\.0))
    }

    @Test("F01 a format of the user's own is detected by its signature, which may need more bytes")
    func ownFormat() {
        let format = ImageFormat(name: "signed", mimeType: "image/x-signed")
        #expect(ImageFormat.detect(in: Array("SIGNED..".utf8)) == .unknown)
        OwnSignatures.add([Array("SIGNED".utf8)], of: format)
        #expect(ImageFormat.detect(in: Array("SIGNE".utf8)) == .needsMoreBytes)
        #expect(ImageFormat.detect(in: Array("SIGNED".utf8)) == .format(format))
        #expect(ImageFormat.detect(in: Array("SIGNED..".utf8)) == .format(format))
        #expect(ImageFormat.detect(in: Array("SIGNES..".utf8)) == .unknown)
    }
}
