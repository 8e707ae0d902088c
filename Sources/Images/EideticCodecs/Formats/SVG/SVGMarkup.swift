#if SVG
import EideticCore

/// The tags and style sheets of an SVG document, as far as the cost of drawing it depends on them.
///
/// No validator: librsvg parses the document again. Whatever this reader would understand otherwise than librsvg is
/// refused: entities with markup, default attributes, unusual encodings.
///
/// - SeeAlso: XML 1.0, sections 2.4 to 2.8, 4.2 and 4.3.3.
struct SVGMarkup {
    /// One piece of a document.
    enum Piece {
        /// A start tag; `isEmpty` if it is also the end tag.
        case start(name: Substring.UTF8View, attributes: [Attribute], isEmpty: Bool)
        case end
        /// Character data; without a literal section it may have references.
        case text(Substring.UTF8View, isLiteral: Bool)
        /// A processing instruction.
        case instruction(Substring.UTF8View)
    }

    /// One attribute, whose name has no prefix, and whose value has neither references nor lines.
    struct Attribute {
        let name: String
        let value: String
        /// A Boolean value indicating whether the name had a prefix.
        let isPrefixed: Bool
    }

    /// The maximum number of bytes of an attribute or a text, which is that of libxml2.
    private static let maximumLength = 10_000_000

    private let text: String
    /// The comparison of names in this document.
    let names: SVGNames
    var rest: Substring.UTF8View
    var entities: [[UInt8]: String] = [:]

    /// Creates a reader of a document.
    ///
    /// - Throws: `unsupportedFormat` for an encoding in which markup is not ASCII.
    init(_ bytes: UnsafeRawBufferPointer) throws(EideticError) {
        (text, names) = try SVGEncoding.decode(bytes)
        rest = text[...].utf8
    }

    /// Returns the next piece; `nil` at the end of the document.
    ///
    /// - Throws: `unsupportedFormat` for declarations and references that this reader does not follow.
    mutating func next() throws(EideticError) -> Piece? {
        while let first = rest.first {
            guard first == UInt8(ascii: "<") else { return .text(consume(upTo: "<"), isLiteral: false) }
            if skip("<!--") { skip(through: "-->"); continue }
            if skip("<![CDATA[") {
                let content = consume(upTo: "]]>")
                _ = skip("]]>")
                return .text(content, isLiteral: true)
            }
            if skip("<!DOCTYPE") { try readDocumentType(); continue }
            if skip("<?") {
                let content = consume(upTo: "?>")
                _ = skip("?>")
                return .instruction(content)
            }
            if skip("</") { skip(through: ">"); return .end }
            return try readStartTag()
        }
        return nil
    }

    private mutating func readStartTag() throws(EideticError) -> Piece {
        rest.removeFirst()
        let name = localName(consume { !Self.isSpace($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") })
        var attributes: [Attribute] = []
        while let first = rest.first {
            if first == UInt8(ascii: ">") { rest.removeFirst(); break }
            if skip("/>") { return .start(name: name, attributes: attributes, isEmpty: true) }
            if Self.isSpace(first) || first == UInt8(ascii: "/") { rest.removeFirst(); continue }
            let key = consume { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ">") && !Self.isSpace($0) }
            skipSpaces()
            guard skip("=") else { continue }
            skipSpaces()
            guard let quote = rest.popFirst() else { break }
            let value = consume { $0 != quote }
            _ = rest.popFirst()
            let name = localName(key), text = try resolved(Self.singleLine(value))
            attributes.append(Attribute(name: String(name) ?? "", value: text, isPrefixed: name.count < key.count))
        }
        return .start(name: name, attributes: attributes, isEmpty: false)
    }

    /// Returns the value of an attribute with spaces for tabs and line ends, as section 3.3.3 says.
    private static func singleLine(_ value: Substring.UTF8View) -> Substring.UTF8View {
        guard value.contains(where: { $0 < 32 }) else { return value }
        return String(decoding: value.lazy.map { isSpace($0) ? 32 : $0 }, as: UTF8.self)[...].utf8
    }

    /// Returns text with its references replaced.
    func resolved(_ value: Substring.UTF8View) throws(EideticError) -> String {
        guard value.contains(UInt8(ascii: "&")) else { return String(value) ?? "" }
        var result = ""
        var rest = value
        while let start = rest.firstIndex(of: UInt8(ascii: "&")) {
            result += String(rest[..<start]) ?? ""
            guard let end = rest[start...].firstIndex(of: UInt8(ascii: ";")) else { break }
            result += try replacement(for: rest[rest.index(after: start)..<end])
            guard result.utf8.count <= Self.maximumLength else {
                throw EideticError(
                    .limitExceeded,
                    message: "svg: an attribute or a text exceeds 10 MB with its entities"
                )
            }
            rest = rest[rest.index(after: end)...]
        }
        return result + (String(rest) ?? "")
    }

    private func replacement(for reference: Substring.UTF8View) throws(EideticError) -> String {
        let standard = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"], name = String(reference) ?? ""
        if let text = standard[name] ?? entities[Array(reference)] { return text }
        let digits = name.hasPrefix("#x") ? name.dropFirst(2) : name.dropFirst(1)
        guard name.hasPrefix("#"), let number = UInt32(digits, radix: name.hasPrefix("#x") ? 16 : 10),
            let scalar = Unicode.Scalar(number)
        else { throw Self.unsupported("the reference &\(name.prefix(20));") }
        return String(Character(scalar))
    }

    static func unsupported(_ feature: String) -> EideticError {
        EideticError(.unsupportedFormat, message: "svg: \(feature) are not supported")
    }
}
#endif
