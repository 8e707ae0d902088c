#if SVG
/// The rules of a style sheet, without their comments.
///
/// - SeeAlso: CSS Syntax Module Level 3, sections 4.3 and 5.4.
struct SVGRuleReader {
    private var rest: ArraySlice<UInt8>
    private var content: [UInt8] = []

    init(_ text: String) { rest = Array(text.utf8)[...] }

    /// Returns the next rule: what stands before its block, and what in it; `nil` at the end.
    mutating func next() -> (prelude: [UInt8], block: String)? {
        let prelude = read(upTo: UInt8(ascii: "{"))
        guard !rest.isEmpty else { return nil }
        rest.removeFirst()
        defer { _ = rest.popFirst() }
        return (prelude, String(decoding: read(upTo: UInt8(ascii: "}")), as: UTF8.self))
    }

    /// Reads up to a byte outside of comments, strings, URLs and brackets, which stays, or to the end.
    private mutating func read(upTo end: UInt8) -> [UInt8] {
        content = []
        var brackets: [UInt8] = []
        while let byte = rest.first, byte != end || !brackets.isEmpty {
            if skipComment() { continue }
            rest.removeFirst()
            content.append(byte)
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): readString(quote: byte)
            case UInt8(ascii: "("): if !readURL() { brackets.append(UInt8(ascii: ")")) }
            case UInt8(ascii: "["): brackets.append(UInt8(ascii: "]"))
            case UInt8(ascii: "{"): brackets.append(UInt8(ascii: "}"))
            default: if byte == brackets.last { brackets.removeLast() }
            }
        }
        return content
    }

    /// Replaces a comment, or a mark of a comment in HTML, by a space, if one follows.
    private mutating func skipComment() -> Bool {
        for mark in ["<!--", "-->"] where rest.starts(with: mark.utf8) {
            rest = rest.dropFirst(mark.utf8.count)
            content.append(32)
            return true
        }
        guard rest.starts(with: "/*".utf8) else { return false }
        rest = rest.dropFirst(2)
        while !rest.isEmpty, !rest.starts(with: "*/".utf8) { rest.removeFirst() }
        rest = rest.dropFirst(2)
        content.append(32)
        return true
    }

    /// Reads a string up to its end, or the end of its line.
    private mutating func readString(quote: UInt8) {
        while let byte = rest.first, byte != 10, byte != 12, byte != 13 {
            rest.removeFirst()
            content.append(byte)
            if byte == quote { return }
        }
    }

    /// Reads a URL without quotation marks, if `url(` was read.
    private mutating func readURL() -> Bool {
        let name = content.suffix(5).dropLast()
        guard name.suffix(3).map(\.lowercasedASCII).elementsEqual("url".utf8),
            // With one of these it is the name of another function, or a block in brackets.
            name.count < 4 || !Self.isName(name[name.startIndex]) && !"#@".utf8.contains(name[name.startIndex])
        else { return false }
        let start = rest.first { !SVGMarkup.isSpace($0) }
        guard start != UInt8(ascii: "\""), start != UInt8(ascii: "'") else { return false }
        while let byte = rest.popFirst() {
            content.append(byte)
            if byte == UInt8(ascii: ")") { break }
        }
        return true
    }

    /// Returns `true` for a byte of a name.
    static func isName(_ byte: UInt8) -> Bool {
        byte >= 0x80 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            || (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte.lowercasedASCII)
    }
}
#endif
