import EideticCodecs
import EideticCore
import EideticTestSupport
import FoundationEssentials
import Testing

private let isBuilt = ImageDecoder.supportedFormats.contains(.svg)

@Suite("SVG", .enabled(if: isBuilt, "this build is without the trait SVG"))
struct SVGTests {
    /// Returns a document with a red left half and a transparent right half.
    private func document(attributes: String, content: String? = nil) -> [UInt8] {
        let redRectangle = "<rect width='1' height='2' fill='#f00'/>"
        let start = "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' "
        return Array("\(start)\(attributes)>\(content ?? redRectangle)</svg>".utf8)
    }

    @Test(
        "F02 an SVG's size comes from its width and height, else from its view box",
        arguments: [
            ("width='30' height='20'", 30, 20), ("width='1in' height='2.54cm'", 96, 96),
            ("viewBox='0 0 2 2'", 2, 2), ("width='8' viewBox='0 0 2 1'", 8, 4), ("height='8' viewBox='0 0 2 1'", 16, 8),
            ("width='30'", 30, 150), ("height='30'", 300, 30), ("width='30' height='100%' viewBox='0 0 3 2'", 30, 20),
            ("width='30' height='auto' viewBox='0 0 3 2'", 30, 20), ("width='2in' viewBox='0 0 4 1'", 192, 48),
            ("width='100%' height='50%' viewBox='0 0 6 5'", 6, 5), ("width='1.5' height='0.2'", 2, 1), ("", 300, 150),
            // Chromium 156.
            ("width='4em' height='3em'", 64, 48), ("width='63.5' height='47.3'", 64, 47),
            // An em is the font size of the root (CSS Values 4, 6.1.1), an ex half of it where the font has no other.
            ("font-size='20' width='4em' height='3em'", 80, 60), ("width='4ex' height='2em'", 32, 32),
        ]
    )
    func size(attributes: String, width: Int, height: Int) throws {
        let header = try #require(try ImageDecoder.header(of: document(attributes: attributes)))
        #expect(header.size == PixelSize(width: width, height: height))
    }

    /// Documents of 2 x 2 green pixels in Chromium 156.
    static let documents: [(name: String, bytes: [UInt8])] = {
        let root = "xmlns='http://www.w3.org/2000/svg' width='2' height='2'"
        let green = "<rect width='2' height='2' fill='#0f0'/>"
        let plain = "<svg \(root)>\(green)</svg>"
        let black = "<svg \(root)><rect width='2' height='2'/></svg>"
        func styled(_ sheet: String) -> String {
            "<svg \(root)><style>\(sheet) rect{fill:#0f0}</style><rect width='2' height='2' fill='#f00'/></svg>"
        }
        let entities = (0..<200).map { "<!ENTITY e\($0) 'http://ns.adobe.com/\($0)/'>" }.joined()
        var png = PNGWriter(width: 1, height: 1)
        png.addPixels([0, 0, 255, 0])
        let pixel = Data(png.finished).base64EncodedString()
        let prefixed =
            "<n:svg xmlns:n='http://www.w3.org/2000/svg' width='2' height='2'>"
            + "<n:rect width='2' height='2' fill='#0f0'/></n:svg>"
        let custom =
            "<svg \(root)><style>:root{--c:#0f0} .a{fill:var(--c);stroke:var( --d , none)}</style>"
            + "<rect class='a' width='2' height='2'/></svg>"
        let nested =
            "<svg \(root)><style>:root{--a:var(--b);--b:var(--c, #0f0)} rect{fill:var(--a)}</style>"
            + "<rect width='2' height='2'/></svg>"
        let texts: [(String, String)] = [
            ("import", styled("@import url('https://fonts.example/css?family=Inter');")),
            ("import of a file", styled("@import 'other.css';")),
            ("font", styled("@font-face{font-family:A;src:url(https://fonts.example/a.woff2)}")),
            ("escapes", styled(".\\31 a{fill:#00f} .b\\:c{fill:#00f} @font-face{font-family:'\\66oo'}")),
            ("CDATA", styled("<![CDATA[@import url(https://fonts.example/);]]>")),
            ("external image", "<svg \(root)>\(green)<use href='other.svg#a'/></svg>"),
            ("custom property", custom),
            ("nested property", nested),
            (
                "custom properties of comments and of a dark scheme",
                "<svg \(root)><style>/*--c:#f00*/@media (prefers-color-scheme:dark){:root{--c:#00f}} :root{--c:#0f0} "
                    + "rect{fill:var(--c)}</style><rect width='2' height='2'/></svg>"
            ),
            (
                "a property that is not declared",
                "<svg \(root) fill='#0f0'><style>rect{fill:var(--c)}</style><rect width='2' height='2'/></svg>"
            ),
            (
                "document type with brackets",
                "<!DOCTYPE svg [<!-- ]> it's --><!ENTITY a ']>'><?a ]>?> ] >\(plain)"
            ),
            ("XML 1.1", "<?xml version='1.1'?>\(plain)"),
            ("bytes that are said to be UTF-16", "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\(plain)"),
            (
                "external entity",
                "<!DOCTYPE svg [<!ENTITY a SYSTEM 'a.txt'><!ENTITY b PUBLIC '-//B//' 'b.txt'>]>"
                    + "<svg \(root)>&a;\(green)&b;</svg>"
            ),
            (
                "external declarations",
                "<!DOCTYPE svg [<!ENTITY % a SYSTEM 'a.ent'>%a;<!ENTITY c '#0f0'>]>"
                    + "<svg \(root)><rect width='2' height='2' fill='&c;'/></svg>"
            ),
            (
                "declarations in an entity",
                "<!DOCTYPE svg [<!ENTITY % a \"<!ENTITY c '#0f0'>\"> %a; ]>"
                    + "<svg \(root)><rect width='2' height='2' fill='&c;'/></svg>"
            ),
            (
                "character references in a parameter",
                "<!DOCTYPE svg [<!ENTITY % f SYSTEM 'a.ent'>"
                    + "<!ENTITY % a \"&#60;!ENTITY &#x63; '&#38;#35;0f0'&#62; &#37;f;\">%f;%a;%f;]>"
                    + "<svg \(root)><rect width='2' height='2' fill='&c;'/></svg>"
            ),
            (
                "character references with zeros, and of characters that XML does not have",
                "<!DOCTYPE svg [<!ENTITY % a \"&#00000000060;!--&#0;&#x1;&#xffff;&#xd800;--&#x00000000003e;"
                    + "&#60;!ENTITY c '#0f0'&#62;\">%a;]><svg \(root)><rect width='2' height='2' fill='&c;'/></svg>"
            ),
            ("background", "<svg \(root) style='color:red; background : #0f0'/>"),
            ("colour of the background", "<?a?><!--a--><svg \(root) style=\"background:none;background-color:#0f0\"/>"),
            ("a background of no colour", "<svg \(root) style='background:inherit'>\(green)</svg>"),
            ("a longer background", "<svg \(root) style='Background: #0f0 none repeat scroll 0 0 !important'/>"),
            ("a function", "<svg \(root) style='background:rgb(0, 255, 0) url(#a)'/>"),
            ("an own style sheet", "<?xml-stylesheet type='text/css' href='data:text/css,rect{fill:lime}'?>\(black)"),
            ("a comment like a document type", "<!-- <!DOCTYPE svg [ -->\(plain)<!-- 100% ; ]> -->"),
            ("a quote in a comment", "<!-- it's <!DOCTYPE a> --><!DOCTYPE svg [<!ENTITY a SYSTEM 'a.txt'>]>\(plain)"),
            ("UTF-8 that is said to be UTF-16", "\u{feff}<?xml version='1.0' encoding='UTF-16'?>\(plain)"),
            (
                "image of another type",
                "<svg \(root)><image width='2' height='2' href='data:image/gif;base64,\(pixel)'/></svg>"
            ),
            ("image without a type", "<svg \(root)><image width='2' height='2' href='data:;base64,\(pixel)'/></svg>"),
            ("long comment", "<!--\(String(repeating: "x", count: 100_000))-->\(plain)"),
            ("long document type", "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'a.dtd' [\(entities)]>\(plain)"),
            ("prefix", prefixed),
            ("prefix and prologue", "<?xml version='1.0'?><!DOCTYPE n:svg><?xml-stylesheet href='a.css'?>\(prefixed)"),
        ]
        let text = "<?xml version='1.0' encoding='UTF-16'?>\(plain)"
        let wide: [(String, [UInt8])] = [
            ("UTF-16, little-endian", [0xff, 0xfe] + text.utf16.flatMap { [UInt8($0), 0] as [UInt8] }),
            ("UTF-16, big-endian", [0xfe, 0xff] + text.utf16.flatMap { [0, UInt8($0)] as [UInt8] }),
        ]
        let narrow: [(String, [UInt8])] = texts.map { ($0.0, Array($0.1.utf8)) }
        return narrow + wide
    }()

    @Test("F02 an SVG of the web is drawn without what is external", arguments: documents.indices)
    func web(_ index: Int) throws {
        let (name, bytes) = Self.documents[index]
        let image = try ImageDecoder.decode(bytes)
        #expect(image.format == .svg && image.size == PixelSize(width: 2, height: 2), "\(name)")
        #expect(image.pixels[1, 1] == [0, 255, 0, 255], "\(name): \(image.pixels[1, 1])")
    }

    @Test(
        "F02 what only resembles a character reference is none",
        arguments: ["&#+60;", "&#x+3c;", "&#60", "&#x3c ;", "&#-0;", "&#;", "&#x;"]
    )
    func noReference(text: String) throws {
        let type = "<!DOCTYPE svg [<!ENTITY % a \"\(text)\">%a;!ENTITY c '#0f0'>]>"
        let bytes = Array(type.utf8) + document(attributes: "width='2' height='2'", content: "<rect fill='&c;'/>")
        #expect(throws: EideticError.self) { try ImageDecoder.decode(bytes) }
    }

    /// Styles of a root whose background no browser paints.
    private static let unpainted = [
        "style='color:#f00;background:currentColor'", "aria-label=\"my style='background:#f00'\"",
        "style='/* x; background:#f00; */'", "style='background-color:#f00;background:url(x.png)'",
    ]

    @Test("F02 the root of an SVG without a background of its own is transparent", arguments: unpainted)
    func noBackground(attribute: String) throws {
        let image = try ImageDecoder.decode(document(attributes: "width='2' height='2' \(attribute)", content: ""))
        #expect(image.pixels[1, 1] == [0, 0, 0, 0])
    }

    @Test("F07 custom properties that name each other more often than can be replaced are left as they are")
    func propertyBomb() throws {
        let levels = (0..<7).map { level in
            "--p\(level):" + String(repeating: "var(--p\(level + 1))", count: 50)
        }
        let style = "*{" + (levels + ["--p7:"]).joined(separator: ";") + "} rect{stroke:var(--p0)}"
        let bytes = document(attributes: "width='2' height='2'", content: "<style>\(style)</style><rect/>")
        #expect(try ImageDecoder.decode(bytes).size == PixelSize(width: 2, height: 2))
    }

    @Test(
        "F07 declarations that name each other more often than can be replaced are left out",
        arguments: ["%a;", "%a;%a;", "<!ENTITY % a SYSTEM 'a'>%b;%b;"]
    )
    func declarationBomb(declarations: String) throws {
        let type = "<!DOCTYPE svg [<!ENTITY % b '%a;%a;%a;'><!ENTITY % a \"\(declarations)\">%a;%b;]>"
        let bytes = Array(type.utf8) + document(attributes: "width='2' height='2'", content: "<rect/>")
        #expect(try ImageDecoder.decode(bytes).size == PixelSize(width: 2, height: 2))
    }

    @Test(
        "F07 style sheets whose blocks, comments and references have no end are read in one pass",
        .timeLimit(.minutes(2)),
        arguments: ["@media", "@media}", "@media{", "/*", "@supports /*", "var("]
    )
    func endlessStyles(part: String) throws {
        let style = "a{fill:var(--x)}" + String(repeating: part, count: 100_000)
        let bytes = document(attributes: "width='2' height='2'", content: "<style>\(style)</style><rect/>")
        #expect(try ImageDecoder.decode(bytes).size == PixelSize(width: 2, height: 2))
    }

    @Test("F04 an SVG is sharp at any size, even larger than its own")
    func sharp() throws {
        var options = DecodeOptions()
        options.size = PixelSize(width: 400, height: 400)
        let image = try ImageDecoder.decode(document(attributes: "viewBox='0 0 2 2'"), options: options)
        #expect(image.size == PixelSize(width: 400, height: 400))
        #expect(image.pixels[199, 399] == [255, 0, 0, 255] && image.pixels[200, 0] == [0, 0, 0, 0])
    }

    @Test("F07 an SVG with a target size beyond the limit is refused")
    func limit() throws {
        let error = #expect(throws: EideticError.self) {
            _ = try ImageDecoder.decode(document(attributes: "width='90000' height='90000'"))
        }
        #expect(error?.code == .limitExceeded)
        var options = DecodeOptions()
        options.size = PixelSize(width: 9, height: 9)
        let small = try ImageDecoder.decode(document(attributes: "width='90000' height='90000'"), options: options)
        #expect(small.size == PixelSize(width: 9, height: 9))
    }

    @Test("F07 an SVG reads no file")
    func readsNothing() throws {
        let directory = try TemporaryDirectory()
        let secret = document(attributes: "width='2' height='2'", content: "<rect width='2' height='2' fill='#0f0'/>")
        let path = try directory.write(secret, to: "secret.svg")
        for address in [path, "file://" + path] {
            let content = "<image width='2' height='2' xlink:href='\(address)'/>"
            let bytes = document(attributes: "width='2' height='2'", content: content)
            let image = try withExtendedLifetime(directory) { try ImageDecoder.decode(bytes) }
            #expect(image.pixels[0, 0] == [0, 0, 0, 0])
        }
    }

    @Test("F07 exponentially growing entities are refused")
    func entities() throws {
        var text = "<!DOCTYPE svg [<!ENTITY a0 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'>"
        for level in 1...9 {
            let inner = String(repeating: "&a\(level - 1);", count: 16)
            text += "<!ENTITY a\(level) '\(inner)'>"
        }
        let bytes =
            Array(text.utf8) + Array("]>".utf8)
            + document(attributes: "width='2' height='2'", content: "<text>&a9;</text>")
        #expect(throws: EideticError.self) { _ = try ImageDecoder.decode(bytes) }
    }

    /// Returns a document in gzip's format, in stored blocks.
    private func compressed(_ content: [UInt8], statedSize: Int? = nil, checksum: UInt32? = nil) -> [UInt8] {
        let head: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
        let checksum = Int(checksum ?? PNGWriter.checksum(of: content))
        return head + PNGWriter.storedBlocks(of: content) + TIFFPage.littleEndian(checksum, byteCount: 4)
            + TIFFPage.littleEndian(statedSize ?? content.count, byteCount: 4)
    }

    @Test("F02 a compressed document (svgz) is drawn") func compressedDocument() throws {
        let file = compressed(document(attributes: "width='2' height='2'"))
        #expect(try ImageDecoder.header(of: file)?.size == PixelSize(width: 2, height: 2))
        let image = try ImageDecoder.decode(file)
        #expect(image.pixels[0, 0] == [255, 0, 0, 255] && image.pixels[1, 1] == [0, 0, 0, 0])
        #expect(try ImageDecoder.header(of: Array(file.prefix(30)), isComplete: false) == nil)
    }

    @Test("F07 a compressed file that is truncated, corrupt, no document, or compressed twice is an error")
    func invalidCompressed() {
        let file = compressed(document(attributes: "width='2' height='2'"))
        for count in 12..<file.count { #expect(code(Array(file.prefix(count))) != nil) }
        #expect(code(compressed(Array("hello".utf8))) == .notAnImage)
        #expect(code(compressed(file)) == .notAnImage)
        #expect(code(compressed(document(attributes: "width='2' height='2'"), statedSize: 1 << 31)) == .corrupt)
    }

    @Test("L07 the message of a document that is no XML is one line")
    func brokenDocument() {
        let bytes = Array("<svg xmlns='http://www.w3.org/2000/svg' width='2' height='2'><".utf8)
        let error = #expect(throws: EideticError.self) { try ImageDecoder.decode(bytes) }
        #expect(error?.message.contains("\n") == false && error?.message.contains("line 1") == true, "\(error as Any)")
    }

    @Test("F07 a compressed document is limited in size") func compressedLimits() {
        var spaces = document(attributes: "width='2' height='2'")
        spaces += Array(repeating: 32, count: 64 << 20)
        // The checksum stands behind what is too large.
        #expect(code(compressed(spaces, checksum: 0)) == .limitExceeded)
    }

    private func code(_ bytes: [UInt8]) -> EideticError.Code? {
        errorCode { () throws(EideticError) in _ = try ImageDecoder.decode(bytes) }
    }
}
