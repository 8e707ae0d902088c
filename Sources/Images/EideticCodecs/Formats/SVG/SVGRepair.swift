#if SVG
/// Repairs of a document that browsers draw, and librsvg refuses or draws without a part.
///
/// - The declaration of another version of XML than 1.0, or of UTF-16 in a document of bytes, is left out.
/// - Entities of other files are empty, since nothing external is read; those of parameters are replaced.
/// - The background of the root is told.
/// - PNG and JPEG in `data:` URLs have the type of their content, by which librsvg chooses the decoder.
///
/// - SeeAlso: XML 1.0, sections 2.8 and 4.2 to 4.4.
struct SVGRepair {
    private typealias Bytes = ArraySlice<UInt8>

    private let text: [UInt8]
    private var result: [UInt8] = []
    private var parameters: [Bytes: Bytes] = [:]
    /// The number of parameters that may still be replaced, or of thousands of bytes of them: they can name each other.
    private var replacementsLeft = 100

    /// The colour of the root's `background`, which librsvg does not paint.
    private(set) var background: String?

    /// Repairs a document.
    init(_ document: UnsafeRawBufferPointer) {
        text = [UInt8](document)
        if text.count <= 16 << 20 { run() } else { result = text }
    }

    /// The repaired document; `nil` if nothing is to be repaired.
    var repaired: [UInt8]? { result == text ? nil : result }

    /// The number of bytes in which a document type is searched.
    private static let maximumHeadLength = 65_536

    private mutating func run() {
        var rest = text[...]
        if rest.starts(with: "<?xml".utf8), let end = Self.firstIndex(of: "?>", in: rest.prefix(256)) {
            let declaration = rest[..<(end + 2)]
            if !isWrong(declaration) { result += declaration }
            rest = rest[(end + 2)...]
        }
        if let start = Self.firstIndex(of: "<!DOCTYPE", in: rest.prefix(Self.maximumHeadLength)) {
            let subset = Self.end(of: rest[start...], at: "[>").map { rest[$0...] }
            if let subset, subset.first == UInt8(ascii: "["), let end = endOfSubset(subset.dropFirst()) {
                result += rest[...subset.startIndex]
                appendDeclarations(rest[(subset.startIndex + 1)..<end])
                rest = rest[end...]
            }
        }
        readBackground(of: rest)
        while let start = Self.firstIndex(of: ";base64,", in: rest) {
            let content = start + 8
            if let url = rest[..<start].suffix(100).lastIndex(of: UInt8(ascii: ":")),
                rest[..<url].suffix(4).elementsEqual("data".utf8), let type = Self.imageType(of: rest[content...])
            {
                result += rest[...url] + type.utf8
            } else {
                result += rest[..<start]
            }
            result += rest[start..<content]
            rest = rest[content...]
        }
        result += rest
    }

    /// Returns `true` if a declaration states what librsvg refuses, and browsers ignore; otherwise, `false`.
    private func isWrong(_ declaration: Bytes) -> Bool {
        let words = String(decoding: declaration, as: UTF8.self).lowercased()
            .filter { !$0.isWhitespace && $0 != "\"" && $0 != "'" }
        return words.contains("utf-16") || !words.contains("version=1.0")
    }

    /// Returns the type of a PNG or JPEG in base 64.
    private static func imageType(of content: Bytes) -> String? {
        let start = content.prefix(200).drop { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
        if start.starts(with: "iVBORw0KGgo".utf8) { return "image/png" }
        return start.starts(with: "/9j/".utf8) ? "image/jpeg" : nil
    }
}

// MARK: The root
extension SVGRepair {
    /// Reads the background in the style of the root element, which follows the document type.
    private mutating func readBackground(of text: Bytes) {
        var rest = text
        while let start = rest.firstIndex(of: UInt8(ascii: "<")), let end = endOfMarkup(rest[start...]) {
            let tag = rest[start..<end]
            rest = rest[end...]
            guard tag.dropFirst().first != UInt8(ascii: "!"), tag.dropFirst().first != UInt8(ascii: "?") else {
                continue
            }
            for declaration in Self.style(of: tag).split(separator: ";") {
                let parts = declaration.split(separator: ":", maxSplits: 1)
                let words = parts.map { String($0.drop(while: \.isWhitespace)) }
                guard words.count == 2, ["background", "background-color"].contains(words[0].filter { $0 != " " }),
                    !words[1].contains("url"), words[1].unicodeScalars.allSatisfy(Self.colourScalars.contains)
                else { continue }
                background = words[1]
            }
            return
        }
    }

    private static let colourScalars = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789#(),.%/ -".unicodeScalars
    )

    private static func style(of tag: Bytes) -> String {
        var rest = tag
        while let start = firstIndex(of: "style", in: rest) {
            let value = rest[(start + 5)...].drop(while: isSpace).dropFirst().drop(while: isSpace)
            if start > tag.startIndex, isSpace(tag[start - 1]), let quote = value.first {
                return String(decoding: value.dropFirst().prefix { $0 != quote }, as: UTF8.self)
            }
            rest = rest[(start + 5)...]
        }
        return ""
    }
}

// MARK: The document type
extension SVGRepair {
    /// Appends the declarations of an internal subset, without those of other files.
    private mutating func appendDeclarations(_ subset: Bytes) {
        var rest = subset
        while let first = rest.first {
            guard first == UInt8(ascii: "<") || first == UInt8(ascii: "%") else {
                result.append(first)
                rest = rest.dropFirst()
                continue
            }
            let end =
                (first == UInt8(ascii: "%") ? rest.firstIndex(of: UInt8(ascii: ";")).map { $0 + 1 } : endOfMarkup(rest))
                ?? rest.endIndex
            let markup = rest[..<end]
            rest = rest[end...]
            if first == UInt8(ascii: "%") {
                let declarations = parameters[markup.dropFirst().dropLast()] ?? []
                replacementsLeft -= 1 + declarations.count / 1_000
                if replacementsLeft >= 0 { appendDeclarations(declarations) }
            } else {
                appendDeclaration(markup)
            }
        }
    }

    private mutating func appendDeclaration(_ markup: Bytes) {
        guard markup.starts(with: "<!ENTITY".utf8) else { return result += markup }
        let head = markup.dropLast().split(maxSplits: 4, whereSeparator: Self.isSpace)
        let isParameter = head.count > 1 && head[1].elementsEqual("%".utf8)
        guard let name = head.dropFirst(isParameter ? 2 : 1).first,
            let value = head.dropFirst(isParameter ? 3 : 2).first
        else { return result += markup }
        let isExternal = value.elementsEqual("SYSTEM".utf8) || value.elementsEqual("PUBLIC".utf8)
        switch (isParameter, isExternal) {
        case (true, false):
            let literal = markup[value.startIndex...].dropFirst().prefix { $0 != value.first }
            if parameters[name] == nil { parameters[name] = literal }
        case (true, true): break
        case (false, true): result += "<!ENTITY ".utf8 + name + " \"\">".utf8
        case (false, false): result += markup
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }

    /// Returns the index of the bracket that closes an internal subset.
    private func endOfSubset(_ subset: Bytes) -> Int? {
        var rest = subset
        while let start = rest.firstIndex(where: { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "]") }) {
            if rest[start] == UInt8(ascii: "]") { return start }
            guard let end = endOfMarkup(rest[start...]) else { return nil }
            rest = rest[end...]
        }
        return nil
    }

    /// Returns the end of a comment, an instruction or a declaration, behind its last byte.
    private func endOfMarkup(_ markup: Bytes) -> Int? {
        if markup.starts(with: "<!--".utf8) { return Self.firstIndex(of: "-->", in: markup).map { $0 + 3 } }
        if markup.starts(with: "<?".utf8) { return Self.firstIndex(of: "?>", in: markup).map { $0 + 2 } }
        return Self.end(of: markup, at: ">").map { $0 + 1 }
    }

    /// Returns the index of the first of some bytes outside of quotes.
    private static func end(of markup: Bytes, at bytes: String) -> Int? {
        let ends = Array(bytes.utf8)
        var quote: UInt8?
        return markup.firstIndex { byte in
            if quote != nil {
                if byte == quote { quote = nil }
                return false
            }
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { quote = byte }
            return ends.contains(byte)
        }
    }

    private static func firstIndex<Text: RandomAccessCollection<UInt8>>(
        of pattern: String,
        in text: Text
    ) -> Int? where Text.Index == Int, Text.SubSequence: RandomAccessCollection<UInt8> {
        let pattern = Array(pattern.utf8)
        var position = text.startIndex
        while let start = text[position...].firstIndex(of: pattern[0]) {
            if text[start...].starts(with: pattern) { return start }
            position = start + 1
        }
        return nil
    }
}
#endif
