#if SVG
/// The custom properties in the style sheets of a document, which librsvg does not know.
///
/// Each property has the first value that is declared anywhere, which is that of `:root` in nearly all documents;
/// those in rules with a condition, such as a dark scheme, come last. What refers to no value is left out, so that the
/// property which it would set has its usual value.
///
/// - SeeAlso: CSS Custom Properties 1, section 3.
struct StyleVariables {
    private let text: [UInt8]
    private var values: [ArraySlice<UInt8>: ArraySlice<UInt8>] = [:]
    /// The largest number of bytes of the result: values can name others, and double each time.
    private let limit: Int
    /// The number of references that may still be replaced: values can be empty, and name each other many times.
    private var referencesLeft = 100_000

    private static let reference = Array("var(".utf8)
    private static let maximumDepth = 8

    /// Returns a document with values in place of `var()`; `nil` if it has none, or would become too large.
    static func resolved(_ document: UnsafeRawBufferPointer) -> [UInt8]? {
        guard document.count <= 16 << 20 else { return nil }
        let text = [UInt8](document)
        guard Self.references(in: text[...]) else { return nil }
        var variables = StyleVariables(text: text)
        for part in variables.parts { variables.readDeclarations(in: part) }
        var result: [UInt8] = []
        return variables.append(text[...], to: &result, depth: 0) ? result : nil
    }

    private init(text: [UInt8]) {
        self.text = text
        limit = 4 * text.count + 65_536
    }

    private static func references(in text: ArraySlice<UInt8>) -> Bool {
        var rest = text
        while let start = rest.firstIndex(of: reference[0]) {
            rest = rest[start...]
            if rest.starts(with: reference) { return true }
            rest = rest.dropFirst()
        }
        return false
    }

    private static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }

    private static let endsOfValue = Set(";}<>\"'".utf8)

    /// The parts outside of comments and of rules with a condition, and behind them these rules.
    private var parts: [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var conditional: [ArraySlice<UInt8>] = []
        var rest = text[...]
        var position = rest.startIndex
        // What is known to have no end is not searched for it again, so that the time is linear.
        var commentLimit = text.endIndex
        var blockStart = text.startIndex
        while let start = text[position...].firstIndex(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "@") }) {
            let isComment = start < commentLimit && text[start...].starts(with: "/*".utf8)
            let isRule =
                start >= blockStart
                && (text[start...].starts(with: "@media".utf8) || text[start...].starts(with: "@supports".utf8))
            var end: Int?
            if isComment {
                end = endOfComment(from: start)
                if end == nil { commentLimit = start }
            } else if isRule {
                let block = block(from: start)
                end = block.isClosed ? block.end : nil
                if end == nil { blockStart = block.end }
            }
            position = end ?? start + 1
            guard let end else { continue }
            parts.append(rest[..<start])
            if isRule { conditional.append(text[start..<end]) }
            rest = text[end...]
        }
        return parts + [rest] + conditional
    }

    private func endOfComment(from start: Int) -> Int? {
        var position = start + 2
        while let end = text[position...].firstIndex(of: UInt8(ascii: "*")) {
            if text[end...].starts(with: "*/".utf8) { return end + 2 }
            position = end + 1
        }
        return nil
    }

    /// Returns the end of a rule, behind its closing brace; or the end of the text in which it has none.
    private func block(from start: Int) -> (end: Int, isClosed: Bool) {
        var depth = 0
        for index in start..<text.endIndex {
            if text[index] == UInt8(ascii: "{") { depth += 1 }
            if text[index] == UInt8(ascii: "}") {
                depth -= 1
                if depth <= 0 { return (index + 1, depth == 0) }
            }
        }
        return (text.endIndex, false)
    }

    /// Finds "--name: value" up to the end of a declaration.
    private mutating func readDeclarations(in text: ArraySlice<UInt8>) {
        var position = text.startIndex
        while let start = text[position...].firstIndex(of: UInt8(ascii: "-")) {
            let name = text[start...].prefix(while: Self.isName)
            position = max(name.endIndex, start + 1)
            guard name.starts(with: "--".utf8), name.count > 2,
                start == text.startIndex || !Self.isName(text[start - 1])
            else { continue }
            let rest = text[name.endIndex...].drop(while: Self.isSpace)
            guard rest.first == UInt8(ascii: ":") else { continue }
            let value = rest.dropFirst().drop(while: Self.isSpace).prefix { !Self.endsOfValue.contains($0) }
            if values[name] == nil { values[name] = value }
            position = value.endIndex
        }
    }

    /// Appends text with values in place of references; returns `false` if the result becomes too large.
    private mutating func append(_ text: ArraySlice<UInt8>, to result: inout [UInt8], depth: Int) -> Bool {
        var rest = text
        while let start = rest.firstIndex(of: Self.reference[0]) {
            let candidate = rest[start...]
            let isReference = candidate.starts(with: Self.reference)
            let end = isReference ? Self.end(of: candidate) : nil
            // The end of a reference without one is searched for in thousands of bytes.
            if isReference { referencesLeft -= end == nil ? 100 : 1 }
            guard referencesLeft > 0 else { return false }
            guard let end else {
                result += rest[...start]
                rest = rest[(start + 1)...]
                continue
            }
            result += rest[..<start]
            rest = rest[end...]
            let content = candidate[(start + Self.reference.count)..<(end - 1)].drop(while: Self.isSpace)
            let name = content.prefix(while: Self.isName)
            let fallback = content[name.endIndex...].drop(while: Self.isSpace)
            guard depth < Self.maximumDepth, result.count <= limit else { return false }
            let value = values[name] ?? (fallback.first == UInt8(ascii: ",") ? fallback.dropFirst() : [])
            guard append(value, to: &result, depth: depth + 1) else { return false }
        }
        result += rest
        return result.count <= limit
    }

    /// Returns the end of a reference, behind its closing parenthesis.
    private static func end(of reference: ArraySlice<UInt8>) -> Int? {
        var depth = 0
        for index in reference.indices.prefix(4_096) {
            if reference[index] == UInt8(ascii: "(") { depth += 1 }
            if reference[index] == UInt8(ascii: ")") {
                depth -= 1
                if depth == 0 { return index + 1 }
            }
        }
        return nil
    }
}
#endif
