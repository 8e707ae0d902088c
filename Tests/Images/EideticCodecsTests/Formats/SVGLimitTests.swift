#if SVG
import EideticCodecs
import EideticCore
import FoundationEssentials
import Testing

@Suite("Limits of SVG", .timeLimit(.minutes(1)))
struct SVGLimitTests {
    private func document(_ content: String, side: Int = 1_000, before: String = "") -> [UInt8] {
        let names = "xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'"
        return Array("\(before)<svg \(names) width='\(side)' height='\(side)'>\(content)</svg>".utf8)
    }

    private func error(_ document: [UInt8], limits: DecodeLimits = .standard) -> EideticError? {
        do throws(EideticError) { _ = try ImageDecoder.decode(document, limits: limits) } catch { return error }
        return nil
    }

    private static let rectangle = "<rect width='9' height='9' filter='url(#f)'/>"
    private static let endless = "<feTurbulence baseFrequency='1' numOctaves='1000000'/>"

    @Test(
        "C18 a document whose filters would take minutes is refused before it is drawn",
        arguments: [
            "<filter id='f'>\(endless)</filter>\(rectangle)",
            "<filter id='f'><feTurbulence numOctaves='&#49;000000'/></filter>\(rectangle)",
            "<filter id='f'><feTurbulence numOctaves='&big;'/></filter>\(rectangle)",
            "<filter id='f'><feTurbulence numOctaves='many'/></filter>\(rectangle)",
            "<filter id='f'><feMorphology radius='400'/></filter>\(rectangle)",
            "<filter id='f'><feConvolveMatrix order='300'/></filter>\(rectangle)",
            "<filter id='f'>" + String(repeating: "<feGaussianBlur stdDeviation='9'/>", count: 1_000) + "</filter>"
                + rectangle,
            "<filter id='f'><feGaussianBlur stdDeviation='9'/></filter>" + String(repeating: rectangle, count: 1_000),
            "<filter id='f'><feGaussianBlur/></filter><g id='g'>\(rectangle)</g>"
                + String(repeating: "<use href='#g'/>", count: 1_000),
            "<filter id='f'><feGaussianBlur/></filter><style>.a{filter:url(#f)}</style>"
                + String(repeating: "<rect class='a'/>", count: 1_000),
            "<style>rect{filter:blur(3px)}</style>" + String(repeating: "<rect/>", count: 1_000),
            String(repeating: "<rect style='filter: blur(3px) blur(4px)'/>", count: 400),
            String(repeating: "<g opacity='.5'><rect/></g>", count: 30_000),
        ]
    )
    func filters(content: String) {
        let refused = error(document(content, before: "<!DOCTYPE svg [<!ENTITY big '1000000'>]>"))
        #expect(refused?.code == .limitExceeded)
        #expect(refused?.message.contains("ns per pixel") == true)
    }

    @Test("C18 the limit on the work of filters is inclusive, and depends on the size") func work() throws {
        let bytes = document("<filter id='f'><feGaussianBlur/></filter>\(Self.rectangle)")
        let workload = try bytes.withUnsafeBytes { try SVGWorkload($0) }
        #expect(workload.nanosecondsPerPixel > 0)
        let count = Int(SVGWorkload.maximumNanoseconds / workload.nanosecondsPerPixel)
        try workload.check(size: PixelSize(width: count - 1, height: 1))
        try workload.check(size: PixelSize(width: count, height: 1))
        #expect(throws: EideticError.self) { try workload.check(size: PixelSize(width: count + 1, height: 1)) }
        #expect(try ImageDecoder.decode(bytes).size == PixelSize(width: 1_000, height: 1_000))
    }

    @Test("C18 exponentially many uses of an element are refused before they are drawn") func uses() {
        var content = "<g id='g0'><rect width='1' height='1'/></g>"
        for level in 1...9 {
            content += "<g id='g\(level)'>" + String(repeating: "<use href='#g\(level - 1)'/>", count: 10) + "</g>"
        }
        let refused = error(document("<defs>\(content)</defs><use href='#g9'/>"))
        #expect(refused?.code == .limitExceeded && refused?.message.contains("elements are drawn") == true)
    }

    @Test("C18 elements that refer to themselves, or deeply, end") func cycles() {
        #expect(error(document("<g id='a'><use href='#b'/></g><g id='b'><use href='#a'/></g>"))?.code != .limitExceeded)
        let chain = (0..<300).map { "<g id='g\($0)'><use href='#g\($0 + 1)'/></g>" }.joined()
        #expect(error(document("<defs>\(chain)</defs><use href='#g0'/>"))?.code == .limitExceeded)
    }

    @Test(
        "C18 what the estimate could understand otherwise than the library is refused",
        arguments: [
            ("<!DOCTYPE svg [<!ENTITY f \"<feTurbulence numOctaves='1000000'/>\">]>", ""),
            ("<!DOCTYPE svg [<!ENTITY a '1'><!ENTITY b '&a;'>]>", ""),
            ("<!DOCTYPE svg [<!ENTITY % a '1'>]>", ""),
            ("<!DOCTYPE svg [<!ATTLIST feTurbulence numOctaves CDATA '1000000'>]>", ""),
            ("<?xml version='1.0' encoding='UTF-7'?>", ""),
            ("<?xml-stylesheet href='data:text/css,rect{}'?>", ""), ("", "<style>@import 'data:text/css,'</style>"),
            ("", "<style>rect{f\\69lter:blur(3px)}</style>"),
            ("", "<image href='data:image/png,abc'/>"),
        ]
    )
    func unknown(before: String, content: String) {
        #expect(error(document(content, side: 9, before: before))?.code == .unsupportedFormat)
    }

    @Test("C18 the estimate understands comments and character data") func encodings() {
        let filter = "<filter id='f'>\(Self.endless)</filter>\(Self.rectangle)"
        #expect(error(document("<!-- \(filter) --><style><![CDATA[ \(filter) ]]></style>", side: 9)) == nil)
        #expect(error(document("<!-- > --><!-- <style> -->\(filter)"))?.code == .limitExceeded)
    }

    @Test("C18 embedded images are within the limits together", arguments: [-1, 0, 1])
    func embeddedImages(beyond: Int) throws {
        var png = PNGWriter(width: 40, height: 25)
        png.addPixels(Array(repeating: 0, count: 25 * 121))
        let image =
            "<image width='9' height='9' xlink:href='data:image/png;base64,\(Data(png.finished).base64EncodedString())'/>"
        var limits = DecodeLimits()
        limits.pixels = 2_000 - beyond
        let code = error(document(image + image, side: 9), limits: limits)?.code
        #expect(code == (beyond > 0 ? .limitExceeded : nil))
    }

    @Test("C18 the work of embedded documents counts, and their depth is limited", arguments: [false, true])
    func embeddedDocuments(isBase64: Bool) {
        func image(_ content: [UInt8]) -> String {
            let base64 = "data:image/svg+xml;base64," + Data(content).base64EncodedString()
            let text = String(decoding: content, as: UTF8.self)
            let plain =
                "data:image/svg+xml,%3C" + text.dropFirst().replacing("%", with: "%25").replacing("<", with: "&lt;")
            return "<image width='9' height='9' href=\"\(isBase64 ? base64 : plain.replacing("\"", with: "%22"))\"/>"
        }
        let endless = document("<filter id='f'>\(Self.endless)</filter>\(Self.rectangle)")
        #expect(error(document(image(endless)))?.message.contains("ns per pixel") == true)
        var nested = document("<rect width='1' height='1'/>", side: 9)
        for _ in 0..<4 { nested = document(image(nested), side: 9) }
        #expect(error(nested) == nil)
        #expect(error(document(image(nested), side: 9))?.message.contains("nested documents") == true)
    }

    @Test("C18 a document that takes longer than the time limit fails, though the library continues")
    func deadline() {
        var limits = DecodeLimits()
        limits.duration = .milliseconds(20)
        let slow = "<filter id='f' x='0' y='0' width='1' height='1'><feMorphology radius='6'/></filter>"
        let file = document("\(slow)<rect width='1000' height='1000' filter='url(#f)'/>")
        let refused = error(file, limits: limits)
        #expect(refused?.code == .limitExceeded && refused?.message.contains("longer than the limit") == true)
    }
}
#endif
