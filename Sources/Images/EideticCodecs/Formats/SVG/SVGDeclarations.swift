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
    /// The number of functions that filter.
    private(set) var functionCount = 0
    /// The references in `url(#…)`.
    private(set) var references: [SVGReference] = []

    private static let layerWords: [StaticString] = [
        "url(", "filter", "opacity", "mask", "clip", "blend", "isolation",
    ]

    /// The functions of Filter Effects Module Level 1, section 6.1.
    private static let functions = [
        "blur", "brightness", "contrast", "drop-shadow", "grayscale", "hue-rotate", "invert", "opacity", "saturate",
        "sepia",
    ]

    /// Creates none.
    init() {}

    /// Reads declarations.
    ///
    /// - Throws: `unsupportedFormat` for references to embedded documents.
    init(_ text: String, names: SVGNames) throws(EideticError) {
        guard Self.matter(text) else { return }
        layerCount = text.utf8.split(separator: UInt8(ascii: ";")).count { Self.matter(Substring($0)) }
        references = try SVGReference.all(in: text, names: names)
        guard text.containsASCII("filter") else { return }
        let bytes = Array(text.utf8)
        functionCount = bytes.brackets.count { index in
            Self.functions.contains { bytes[..<index].ends(with: $0) }
        }
    }

    /// Reads the declarations in an attribute; `nil` if they have no cost.
    ///
    /// - Throws: `unsupportedFormat` if escapes may hide a reference, and for references to embedded documents.
    init?(_ attribute: SVGMarkup.Attribute, names: SVGNames) throws(EideticError) {
        var value = attribute.value
        if value.utf8.contains(UInt8(ascii: "\\")) {
            value = Self.unescaped(value)
            guard !value.containsASCII("url(") else { throw SVGMarkup.unsupported("escapes beside references") }
        }
        if attribute.name == "style" {
            try self.init(value, names: names)
        } else {
            let isReference = value.utf8.contains(UInt8(ascii: "(")) && value.containsASCII("url(")
            guard isReference || Self.matter(attribute.name) else { return nil }
            try self.init("\(attribute.name):\(value)", names: names)
        }
    }

    /// Returns `true` if declarations may refer to other elements or need layers; otherwise, `false`.
    static func matter(_ declarations: some StringProtocol) -> Bool {
        layerWords.contains { declarations.containsASCII($0) }
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

    /// The same declarations for all elements: each has them, and inherits none.
    var ofEachElement: Self {
        var copy = self
        for index in references.indices where references[index].repetition == .inherited {
            copy.references[index].repetition = .once
        }
        return copy
    }

    /// Adds other declarations to these.
    mutating func add(_ other: SVGDeclarations) {
        layerCount += other.layerCount
        functionCount += other.functionCount
        references += other.references
    }
}

extension [UInt8] {
    /// The indices of the opening brackets.
    var brackets: [Int] { indices.filter { self[$0] == UInt8(ascii: "(") } }
}

extension ArraySlice<UInt8> {
    /// Returns `true` if a word in lower case, or with capitals, is at the end.
    func ends(with word: String) -> Bool {
        suffix(word.utf8.count).lazy.map(\.lowercasedASCII).elementsEqual(word.utf8)
    }
}
#endif
