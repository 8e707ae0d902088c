#if SVG
/// The characters of markup.
extension SVGMarkup {
    static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 10 || byte == 13 }

    func localName(_ name: Substring.UTF8View) -> Substring.UTF8View {
        name.firstIndex(of: UInt8(ascii: ":")).map { name[name.index(after: $0)...] } ?? name
    }

    mutating func skipSpaces() { _ = consume(while: Self.isSpace) }

    mutating func skip(_ prefix: StaticString) -> Bool {
        guard prefix.withUTF8Buffer({ rest.starts(with: $0) }) else { return false }
        rest = rest.dropFirst(prefix.utf8CodeUnitCount)
        return true
    }

    mutating func skip(through end: StaticString) {
        _ = consume(upTo: end)
        _ = skip(end)
    }

    mutating func consume(while predicate: (UInt8) -> Bool) -> Substring.UTF8View {
        let end = rest.firstIndex { !predicate($0) } ?? rest.endIndex
        defer { rest = rest[end...] }
        return rest[..<end]
    }

    /// Consumes the characters before `end`, or all if it does not follow.
    mutating func consume(upTo end: StaticString) -> Substring.UTF8View {
        let first = end.withUTF8Buffer { $0[0] }
        var position = rest.startIndex
        while let next = rest[position...].firstIndex(of: first) {
            position = next
            if end.withUTF8Buffer({ rest[next...].starts(with: $0) }) {
                defer { rest = rest[position...] }
                return rest[..<position]
            }
            position = rest.index(after: next)
        }
        defer { rest = rest[rest.endIndex...] }
        return rest
    }
}
#endif
