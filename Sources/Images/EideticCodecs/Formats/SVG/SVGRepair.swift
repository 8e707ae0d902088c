#if SVG
/// Repairs of a document that browsers draw, and librsvg refuses or draws without a part.
///
/// - The declaration of another version of XML than 1.0, or of UTF-16 in a document of bytes, is left out.
/// - Entities of other files are empty, since nothing external is read; those of parameters are replaced.
/// - The colour of the root's background is told.
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
        guard document.count <= 16 << 20 else { text = []; return }
        text = [UInt8](document)
        run()
    }

    /// The repaired document; `nil` if nothing is to be repaired.
    var repaired: [UInt8]? { result == text ? nil : result }

    private mutating func run() {
        var rest = text[...]
        // A mark of UTF-8, which says more than the declaration behind it.
        if rest.starts(with: [0xef, 0xbb, 0xbf]) { take(&rest, to: rest.startIndex + 3) }
        if rest.starts(with: "<?xml".utf8), rest.dropFirst(5).first.map(Self.isSpace) == true,
            let end = Self.firstIndex(of: "?>", in: rest.prefix(256)), isWrong(rest[..<end])
        {
            rest = rest[(end + 2)...]
        }
        while let start = rest.firstIndex(of: UInt8(ascii: "<")), let end = endOfMarkup(rest[start...]) {
            let markup = rest[start..<end]
            guard markup.starts(with: "<!".utf8) || markup.starts(with: "<?".utf8) else {
                background = Self.background(in: Self.value(of: "style", in: markup))
                break
            }
            let subset = markup.starts(with: "<!DOCTYPE".utf8) ? Self.end(of: rest[start...], at: "[>") : nil
            if let subset, rest[subset] == UInt8(ascii: "["), let end = endOfSubset(rest[(subset + 1)...]) {
                take(&rest, to: subset + 1)
                appendDeclarations(rest[..<end])
                rest = rest[end...]
            } else {
                take(&rest, to: end)
            }
        }
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

    /// Takes the bytes before an index over as they are.
    private mutating func take(_ rest: inout Bytes, to end: Int) {
        result += rest[..<end]
        rest = rest[end...]
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
    /// Returns the colour of the background that a style declares; `nil` without one, or for a style with comments.
    private static func background(in style: String) -> String? {
        guard !style.contains("/*") else { return nil }
        var colour: String?
        for declaration in style.lowercased().split(separator: ";") {
            let parts = declaration.split(separator: ":", maxSplits: 1)
            guard parts.count == 2,
                ["background", "background-color"].contains(parts[0].filter { !$0.isWhitespace })
            else { continue }
            // A shorthand begins with the colour, or, as read here, has none.
            var depth = 0
            let value = parts[1].drop(while: \.isWhitespace).prefix { character in
                depth += character == "(" ? 1 : character == ")" ? -1 : 0
                return depth > 0 || !character.isWhitespace && character != "!"
            }
            let isPlain = value.unicodeScalars.allSatisfy(colourScalars.contains)
            colour = isPlain && !value.contains("url") && value != "currentcolor" ? String(value) : nil
        }
        return colour
    }

    private static let colourScalars = Set("abcdefghijklmnopqrstuvwxyz0123456789#(),.%/ -".unicodeScalars)

    /// Returns the value of an attribute of a tag; empty without one.
    private static func value(of attribute: String, in tag: Bytes) -> String {
        var rest = tag.dropFirst()
        while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
            let name = rest[..<equals].split(whereSeparator: isSpace).last
            let value = rest[(equals + 1)...].drop(while: isSpace)
            guard let quote = value.first, let end = value.dropFirst().firstIndex(of: quote) else { break }
            if let name, name.elementsEqual(attribute.utf8) {
                return String(decoding: value[..<end].dropFirst(), as: UTF8.self)
            }
            rest = value[(end + 1)...]
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
            if parameters[name] == nil { parameters[name] = Self.replacingCharacterReferences(in: literal) }
        case (true, true): break
        case (false, true): result += "<!ENTITY ".utf8 + name + " \"\">".utf8
        case (false, false): result += markup
        }
    }

    /// Returns the replacement text of a literal, whose character references are replaced at once.
    ///
    /// - SeeAlso: XML 1.0, section 4.5.
    private static func replacingCharacterReferences(in literal: Bytes) -> Bytes {
        var text: [UInt8] = []
        var rest = literal
        while let start = firstIndex(of: "&#", in: rest) {
            text += rest[..<start]
            rest = rest[(start + 2)...]
            if let end = rest.prefix(32).firstIndex(of: UInt8(ascii: ";")), let scalar = scalar(rest[..<end]) {
                text += String(scalar).utf8
                rest = rest[(end + 1)...]
            } else {
                text += "&#".utf8
            }
        }
        return (text + rest)[...]
    }

    /// Returns the character with a number, of which XML has no null and few other control characters.
    private static func scalar(_ reference: Bytes) -> Unicode.Scalar? {
        let isHexadecimal = reference.first == UInt8(ascii: "x")
        let digits = String(decoding: isHexadecimal ? reference.dropFirst() : reference, as: UTF8.self)
        guard digits.first?.isHexDigit == true, let number = UInt32(digits, radix: isHexadecimal ? 16 : 10),
            [0x09, 0x0a, 0x0d].contains(number) || number >= 0x20 && number != 0xfffe && number != 0xffff
        else { return nil }
        return Unicode.Scalar(number)
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
