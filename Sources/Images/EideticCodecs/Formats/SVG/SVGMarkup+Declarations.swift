#if SVG
import EideticCore

extension SVGMarkup {
    /// Reads a document type with the declarations in it.
    mutating func readDocumentType() throws(EideticError) {
        while let first = rest.first, first != UInt8(ascii: ">") {
            if skip("<!--") { skip(through: "-->"); continue }
            if skip("<?") { skip(through: "?>"); continue }
            if skip("<!ENTITY") { try readEntity(); continue }
            if skip("<!ATTLIST") { try readAttributeList(); continue }
            if skipLiteral() {
                continue
            } else if first == UInt8(ascii: "%") {
                throw Self.unsupported("parameter entities")
            } else {
                rest.removeFirst()
                // The declarations inside brackets contain `>`.
                if first == UInt8(ascii: "<") { skipDeclaration() }
            }
        }
        _ = rest.popFirst()
    }

    /// Skips text in quotation marks, if it follows.
    private mutating func skipLiteral() -> Bool {
        guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return false }
        rest.removeFirst()
        _ = consume { $0 != quote }
        _ = rest.popFirst()
        return true
    }

    /// Skips the rest of a declaration, whose literals may contain `>`.
    private mutating func skipDeclaration() {
        while let first = rest.first {
            if skipLiteral() { continue }
            rest.removeFirst()
            if first == UInt8(ascii: ">") { return }
        }
    }

    private mutating func readEntity() throws(EideticError) {
        skipSpaces()
        guard rest.first != UInt8(ascii: "%") else { throw Self.unsupported("parameter entities") }
        let name = Array(consume { !Self.isSpace($0) })
        skipSpaces()
        guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            // An external entity is not read.
            return skipDeclaration()
        }
        rest.removeFirst()
        let value = consume { $0 != quote }
        _ = rest.popFirst()
        skip(through: ">")
        guard !value.contains(UInt8(ascii: "<")), !value.contains(UInt8(ascii: "&")), !value.contains(UInt8(ascii: "%"))
        else { throw Self.unsupported("entities that contain markup or references") }
        // The first declaration counts.
        if entities[name] == nil { entities[name] = String(value) ?? "" }
    }

    private mutating func readAttributeList() throws(EideticError) {
        let list = consume(upTo: ">")
        _ = skip(">")
        guard !list.contains(UInt8(ascii: "\"")), !list.contains(UInt8(ascii: "'")) else {
            throw Self.unsupported("default attributes")
        }
    }
}
#endif
