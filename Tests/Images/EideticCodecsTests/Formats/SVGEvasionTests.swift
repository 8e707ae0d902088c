#if SVG
import EideticCodecs
import EideticCore
import FoundationEssentials
import Testing

/// Documents that librsvg draws for hours, written so that a careless reader of them sees no work.
@Suite("Hidden work in SVG", .timeLimit(.minutes(1)))
struct SVGEvasionTests {
    private static let names = "xmlns='http://www.w3.org/2000/svg' xmlns:x='http://www.w3.org/1999/xlink'"
    private static let endless = "<feTurbulence baseFrequency='1' numOctaves='1000000'/>"

    private static func document(_ content: String, before: String = "") -> [UInt8] {
        Array("\(before)<svg \(names) width='1000' height='1000'>\(content)</svg>".utf8)
    }

    /// Returns `true` if a document is refused before it is drawn, for its work or for what cannot be estimated.
    private func isRefused(_ document: [UInt8]) -> Bool {
        [.limitExceeded, .unsupportedFormat].contains(refusal(of: document))
    }

    private func refusal(of document: [UInt8]) -> EideticError.Code? {
        do throws(EideticError) {
            let workload = try document.span.withUnsafeBytes { bytes throws(EideticError) in try SVGWorkload(bytes) }
            try workload.check(size: PixelSize(width: 1_000, height: 1_000))
        } catch { return error.code }
        return nil
    }

    /// Returns a filter that takes hours, with an attribute for its identifier.
    private static func filter(_ identifier: String) -> String { "<filter \(identifier)>\(endless)</filter>" }

    /// Returns 1,000 elements with an attribute, which refer to a filter that is no work for a single one.
    private static func blurs(_ identifier: String, _ attribute: String) -> String {
        "<filter \(identifier)>\(String(repeating: "<feGaussianBlur/>", count: 20))</filter>"
            + String(repeating: "<rect \(attribute)/>", count: 100)
    }

    @Test(
        "C18 a reference to a filter is found however it is written",
        arguments: [
            ("id='\u{301}f'", "filter='url(#\u{301}f)'"), ("id='\u{a0}f'", "filter='url(#\u{a0}f)'"),
            ("id='f'", "filter='URL( \"#f\" )'"), ("id='f'", "fill='Url(#f)'"), ("id='f'", "style='Filter:uRL(#f)'"),
            ("id='f'", "filter='/*;*/url(#f)'"), ("id='f'", "style='filter:/*:*/url(#f)'"),
            ("id='f'", "filter='url(#f) blur(1px)'"), ("id='a b'", "filter='url(\"#a b\")'"),
            ("id='f'", "fill='\\75rl(#f)'"), ("id='f'", "style='\\66ilter:u\\52 l(#f)'"),
            ("id='f' x:id='g'", "filter='url(#f)'"), ("id='a\nb'", "filter='url(\"#a b\")'"),
            ("id='f'", "filter='url(#f)' x:filter='none'"),
        ]
    )
    func references(identifier: String, attribute: String) {
        #expect(!isRefused(Self.document(Self.blurs(identifier, ""))))
        #expect(isRefused(Self.document(Self.blurs(identifier, attribute))))
    }

    @Test("C18 each function of a filter counts, also beside a reference") func functions() {
        let functions = String(repeating: " blur(3px)", count: 1_000)
        #expect(isRefused(Self.document("<filter id='f'/><rect filter='url(#f)\(functions)'/>")))
        #expect(isRefused(Self.document("<rect style='FILTER:\(functions)'/>")))
        let colours = String(repeating: "fill:rgb(1,2,3);", count: 1_000)
        #expect(!isRefused(Self.document("<filter id='f'/><rect style='filter:url(#f);\(colours)'/>")))
    }

    @Test(
        "C18 the rules of style sheets are those that the library reads",
        arguments: [
            ".a{x:y}/*}.b{*/.c{FILTER", ".c{x:'}.b{';FILTER", ".c{/*}.b{*/FILTER", ".c{x:url(}.b{);FILTER",
            ".a{}\u{301},.c{filter", ".a{x:url(/*)}.c{filter:url(#f)}.b{x:y;*/z", "@Media all{.c{filter",
            "<![CDATA[.c{filter]]>", ".c{fil&t;er", ".a{x:#url(\")\")}.c{filter", ".a{x:[}]}.c{filter",
            "<![CDATA[.a{x:<!--url(/*)}.c{filter]]>",
        ]
    )
    func styleSheets(rule: String) {
        for classes in ["c", "b c", "b\nc", "b&#9;c", "b\u{2003}c"] {
            let sheet = "<style>\(rule):url(#f)}</style>".replacing("]]>:url(#f)}", with: ":url(#f)}]]>")
            let content = sheet + Self.blurs("id='f'", "class='\(classes)'")
            let document = Self.document(content, before: "<!DOCTYPE svg [<!ENTITY t 't'>]>")
            #expect(isRefused(document), "\(classes.debugDescription)")
        }
    }

    @Test("C18 rules for other classes, in comments and in strings do not count") func otherRules() {
        let harmless = ["/*.c{filter:url(#f)}*/.d{x:y}", ".b{filter:url(#f)}", "/* a */ .b{filter:url(#f)} /* b */"]
        for rule in harmless + [".b{font-family:\"a}\";filter:url(#f)}"] {
            let content = "<style>\(rule)</style>" + Self.blurs("id='f'", "class='c'")
            #expect(!isRefused(Self.document(content)), "\(rule)")
        }
    }

    @Test("C18 imported style sheets and inclusions are refused, however they are written") func imports() {
        #expect(isRefused(Self.document("<style>@IMPORT 'data:text/css,'</style>")))
        #expect(isRefused(Self.document("", before: "<?xml-stylesheet href='DA\nTA:text/css,'?>")))
        #expect(isRefused(Self.document("", before: "<?xml-stylesheet href='&#100;ata:text/css,'?>")))
        #expect(isRefused(Self.document("<rect fill='url(data:image/svg+xml,%3Csvg/>#f)'/>")))
        #expect(!isRefused(Self.document("<style>@font-face{src:url(data:font/woff2;base64,AAAA#a)}</style>")))
        let inner = Data(Self.document("")).base64EncodedString()
        #expect(isRefused(Self.document("<x:include href='data:image/svg+xml;base64,\(inner)'/>")))
    }

    @Test("C18 the parameters of a filter are the largest of those with their name, whatever the prefix") func values()
    {
        let turbulence = "<feTurbulence numOctaves='1000000' x:numOctaves='1'/>"
        #expect(isRefused(Self.document("<filter id='f'>\(turbulence)</filter>")))
    }

    @Test(
        "C18 an element that is used again is found by its identifier, and the costs of equal ones are added",
        arguments: [
            ("id='\u{301}a'", "#\u{301}a"), ("id='\u{e9}'", "#\u{e9}"), ("id='e\u{301}'", "#e\u{301}"),
            ("id=' a  b '", "#a b"), ("id='&a;'", "#\u{301}b"),
        ]
    )
    func uses(identifier: String, reference: String) {
        var content = "<g id='\u{e9}\u{e9}'/><g \(identifier)>"
        content += String(repeating: "<rect/>", count: 10_000) + "<g \(identifier)/></g>"
        content += String(repeating: "<use href='\(reference)'/>", count: 200)
        let before = "<!DOCTYPE svg [<!ATTLIST g id ID #IMPLIED><?a ><!ENTITY a 'z'?><!ENTITY a '\u{301}b'>]>"
        #expect(refusal(of: Self.document(content, before: before)) == .limitExceeded)
        let other = "<g id='e\u{301}'/>" + content.replacing("'e\u{301}'", with: "'x'")
        #expect(isRefused(Self.document(other, before: before)) == !identifier.contains("e\u{301}"))
    }

    @Test("C18 declarations with > in quotation marks hide no others") func declarations() {
        let before = "<!DOCTYPE svg [<!NOTATION n SYSTEM \"'>\"><!ENTITY o '1000000'><!ENTITY o '1'>]>"
        #expect(isRefused(Self.document("<filter><feTurbulence numOctaves='&o;'/></filter>", before: before)))
        let external = "<!DOCTYPE svg [<!ENTITY e SYSTEM \"'>\"><!ENTITY o '1000000'><!ENTITY o '1'>]>"
        #expect(isRefused(Self.document("<filter><feTurbulence numOctaves='&o;'/></filter>", before: external)))
        let list = "<!DOCTYPE svg [<!ATTLIST g id ID #IMPLIED><!NOTATION n SYSTEM '><!--'>]>"
        #expect(refusal(of: Self.document(Self.filter("id='f'"), before: list)) == .limitExceeded)
        let fixed = "<!DOCTYPE svg [<!ATTLIST g id ID #IMPLIED><!ATTLIST rect filter CDATA 'url(#f)'>]>"
        #expect(refusal(of: Self.document("", before: fixed)) == .unsupportedFormat)
    }

    @Test(
        "C18 identifiers in other encodings are found by references to their characters",
        arguments: [
            ("iso-8859-1", [0xe9], "&#xe9;"), ("Shift_JIS", [0x83, 0x41], "&#x30a2;"), ("gbk", [0xb0, 0x41], "&#x9f;"),
            ("koi8-r", [0xc1], "&#x430;"),
        ] as [(String, [UInt8], String)]
    )
    func encodings(name: String, identifier: [UInt8], reference: String) {
        let parts = Self.blurs("id='@'", "filter='url(#\(reference))'").split(separator: "@", maxSplits: 1)
        let head = "<?xml version='1.0' encoding='\(name)'?><svg \(Self.names) width='1000' height='1000'>\(parts[0])"
        #expect(isRefused(Array(head.utf8) + identifier + Array("\(parts[1])</svg>".utf8)))
    }

    @Test("C18 other encodings are those of a declaration, and their characters may be spaces") func declared() {
        let euros = Self.document(
            Self.blurs("id='f'", "x:n='\u{20ac}' filter='url(#f)' y='1'"),
            before: "<?xml-a encoding='gbk'?>"
        )
        #expect(refusal(of: euros) == .limitExceeded)
        let head = "<?xml version='1.0' encoding='iso-8859-1'?>"
        let parts = Self.document(
            "<style>.c{filter:url(#f)}</style>" + Self.blurs("id='f'", "class='b@c'"),
            before: head
        ).split(separator: UInt8(ascii: "@"))
        #expect(refusal(of: Array(parts.joined(separator: [0xa0]))) == .limitExceeded)
    }

    @Test("C18 what is inherited, or drawn at vertices, counts for each of them") func repeated() {
        let pattern = "<pattern id='p'>" + String(repeating: "<rect/>", count: 1_000) + "</pattern>"
        let rectangles = String(repeating: "<rect/>", count: 1_100)
        for attribute in ["fill='url(#p)'", "style='stroke: url(#p)'", "class='c'"] {
            let content = "<style>.c{fill:url(#p)}</style>\(pattern)<g \(attribute)>\(rectangles)</g>"
            #expect(refusal(of: Self.document(content)) == .limitExceeded, "\(attribute)")
        }
        #expect(!isRefused(Self.document("\(pattern)<g mask='url(#p)' clip-path='url(#p)'>\(rectangles)</g>")))
        let vertices = "M0 0" + String(repeating: "h1", count: 1_100)
        for marker in ["marker-mid='url(#p)'", "style='marker : url(#p)'", "style='marker-mid:/**/url(#p)'"] {
            #expect(refusal(of: Self.document("\(pattern)<g \(marker)><path d='\(vertices)'/></g>")) == .limitExceeded)
        }
        #expect(!isRefused(Self.document("\(pattern)<path marker-end='url(#p)' d='\(vertices)'/>")))
    }

    @Test("C18 elements that lead back to themselves are drawn from each that begins elsewhere") func cycles() {
        let parts =
            "<g id='a'>\(String(repeating: "<rect/>", count: 1_000))<use href='#b'/></g><g id='b'><use href='#a'/></g>"
        let uses = String(repeating: "<use href='#b'/>", count: 1_100)
        #expect(refusal(of: Self.document("<use href='#a'/><defs>\(parts)</defs>\(uses)")) == .limitExceeded)
        #expect(!isRefused(Self.document("<use href='#a'/><defs>\(parts)</defs>")))
    }

    @Test("C18 icons that repeat their identifiers are not refused") func sprites() {
        let icon = "<path id='a'/><mask id='b'><use href='#a'/></mask><use href='#a'/><g mask='url(#b)'/>"
        #expect(!isRefused(Self.document(String(repeating: icon, count: 1_000))))
    }

    @Test("C18 hostile documents are read in linear time and memory: each ends within the limit of this test")
    func amplification() {
        let hostile = [
            "<rect style='fill:\(String(repeating: "url(#", count: 40_000))'/>",
            String(repeating: "<g id='a' mask='url(#b)'/>", count: 10_000),
            "<style>.a{opacity:1;x:\(String(repeating: "y", count: 100_000))}</style><g class='"
                + String(repeating: "a ", count: 50_000) + "'/>",
            "<style>*{opacity:1;x:\(String(repeating: "y", count: 100_000))}</style>"
                + String(repeating: "<g/>", count: 10_000),
            "<style>" + String(repeating: "aaaa<!---->", count: 20_000) + "</style>",
        ]
        for content in hostile { _ = refusal(of: Self.document(content)) }
        let nested = (0..<250).reduce(String(repeating: "<use href='#b'/>", count: 20_000)) { text, _ in
            "<g x:id='a'>\(text)</g>"
        }
        #expect(refusal(of: Self.document(nested)) == .limitExceeded)
        for selector in [".a,", "a,"] {
            let rule =
                String(repeating: selector, count: 3_000) + "b{\(String(repeating: "fill:url(#a);", count: 2_000))}"
            #expect(refusal(of: Self.document("<style>\(rule)</style>")) == .limitExceeded)
        }
        let before = "<!DOCTYPE svg [<!ENTITY a '\(String(repeating: "y", count: 10_000))'>]>"
        let inner = Self.document("<g x='\(String(repeating: "&a;", count: 10_000))'/>", before: before)
        #expect(refusal(of: inner) == .limitExceeded)
    }

    @Test("C18 an embedded image is one however its URL is written") func embedded() {
        let inner = Data(Self.document("<filter>\(Self.endless)</filter>")).base64EncodedString()
        for start in ["data:", "DATA:", " data:", "da&#10;ta:", "&#9;d&#13;ata:"] {
            let url = start + "image/svg+xml;base64,"
            #expect(isRefused(Self.document("<image width='9' height='9' href='\(url)\(inner)'/>")), "\(start)")
        }
        // By the library's rules this is no base64.
        let small = Data(Self.document("")).base64EncodedString()
        #expect(isRefused(Self.document("<image href='data:image/svg+xml;base64;a,\(small)'/>")))
        #expect(isRefused(Self.document("<image href='data:image/svg+xml;xbase64,\(small)'/>")))
        #expect(!isRefused(Self.document("<image href='data:image/svg+xml;charset=utf-8; BASE64,\(small)'/>")))
    }
}
#endif
