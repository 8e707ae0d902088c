#if SVG
import EideticCore

/// Declarations of CSS, as far as the cost of drawing depends on them.
///
/// They are not parsed: a word counts wherever it stands, so that comments, strings and errors hide nothing.
///
/// - SeeAlso: CSS Syntax Module Level 3, section 4.
struct SVGDeclarations {
    /// The number of declarations that may need a layer.
    private(set) var layerCount = 0
    /// The number of functions, if some may be those of a filter.
    private(set) var functionCount = 0
    /// The identifiers in `url(#…)`.
    private(set) var references: [ArraySlice<UInt8>] = []

    private static let layerWords: [StaticString] = [
        "url(", "filter", "opacity", "mask", "clip", "blend", "isolation",
    ]

    /// Reads declarations.
    init(_ text: String) {
        guard Self.matter(text) else { return }
        let bytes = Array(text.utf8)
        layerCount = text.utf8.split(separator: UInt8(ascii: ";")).count { Self.matter(Substring($0)) }
        references = Self.references(in: bytes)
        guard text.containsASCII("filter") else { return }
        functionCount = bytes.count { $0 == UInt8(ascii: "(") } - references.count
    }

    /// Reads the declarations in an attribute; `nil` if they have no cost.
    ///
    /// - Throws: `unsupportedFormat` if escapes may hide a reference.
    init?(_ attribute: SVGMarkup.Attribute) throws(EideticError) {
        var value = attribute.value
        if value.utf8.contains(UInt8(ascii: "\\")) {
            value = Self.unescaped(value)
            guard !value.containsASCII("url(") else { throw SVGMarkup.unsupported("escapes beside references") }
        }
        if attribute.name == "style" {
            self.init(value)
        } else {
            let isReference = value.utf8.contains(UInt8(ascii: "(")) && value.containsASCII("url(")
            guard isReference || Self.matter(attribute.name) else { return nil }
            self.init("\(attribute.name):\(value)")
        }
    }

    /// Returns `true` if declarations may refer to other elements or need layers; otherwise, `false`.
    static func matter(_ declarations: some StringProtocol) -> Bool {
        layerWords.contains { declarations.containsASCII($0) }
    }

    private static func references(in text: [UInt8]) -> [ArraySlice<UInt8>] {
        text.indices.compactMap { index in
            guard text[index] == UInt8(ascii: "("),
                text[..<index].suffix(3).map(\.lowercasedASCII).elementsEqual("url".utf8)
            else { return nil }
            var content = text[(index + 1)...].drop(while: SVGMarkup.isSpace)
            let quote = content.first.flatMap { $0 == UInt8(ascii: "'") || $0 == UInt8(ascii: "\"") ? $0 : nil }
            if quote != nil { content.removeFirst() }
            guard content.popFirst() == UInt8(ascii: "#") else { return nil }
            return content.prefix { $0 != quote ?? UInt8(ascii: ")") }
        }
    }

    /// Returns text with the characters of its escapes.
    private static func unescaped(_ text: String) -> String {
        var bytes: [UInt8] = [], rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else { bytes.append(byte); continue }
            let digits = String(rest.prefix(6).prefix { Character(Unicode.Scalar($0)).isHexDigit }) ?? ""
            guard let number = UInt32(digits, radix: 16) else { continue }
            rest = rest.dropFirst(digits.utf8.count)
            if let next = rest.first, SVGMarkup.isSpace(next) { rest.removeFirst() }
            bytes += Array(String(Unicode.Scalar(number).map(Character.init) ?? "?").utf8)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
#endif
