import Glibc

/// The text before the root element of an XML document: declarations, comments and the document type.
///
/// Bytes are compared, not characters: a mark that combines with the last character would hide it.
///
/// - SeeAlso: Extensible Markup Language 1.0, 2.8; Namespaces in XML, 4.
enum XMLProlog {
    /// The root element as far as the bytes tell it.
    enum RootElement {
        /// The element `svg`, with or without a prefix.
        case svg
        case needsMoreBytes
        /// Another element, or no XML.
        case other
    }

    /// The largest number of bytes before the root element: 256 KiB.
    static let maximumLength = 256 << 10

    /// Returns the root element of a document in UTF-8, in another code whose first half is ASCII, or in UTF-16 with a
    /// byte order mark.
    static func rootElement(of bytes: UnsafeRawBufferPointer) -> RootElement {
        guard let first = bytes.first, [0x3c, 0x20, 0x09, 0x0a, 0x0d, 0xef, 0xff, 0xfe].contains(first) else {
            return .other
        }
        let head = UnsafeRawBufferPointer(rebasing: bytes.prefix(maximumLength))
        let mayGrow = head.count < maximumLength
        guard first >= 0xfe else { return rootElement(of: head[...], mayGrow: mayGrow) }
        guard bytes.count > 1 else { return .needsMoreBytes }
        guard bytes[1] == 0xff ^ 0xfe ^ first else { return .other }
        let ascii = asciiText(ofUTF16: head, isLittleEndian: first == 0xff)
        return ascii.withUnsafeBytes { rootElement(of: $0[...], mayGrow: mayGrow) }
    }

    private typealias Text = Slice<UnsafeRawBufferPointer>

    /// The items that may precede the root element, with their terminators.
    private static let items = [
        (opening: "<?", closing: "?>"), (opening: "<!--", closing: "-->"), (opening: doctype, closing: ">"),
    ]
    private static let doctype = "<!DOCTYPE"
    private static let byteOrderMark = "\u{feff}"

    private static func rootElement(of text: Text, mayGrow: Bool) -> RootElement {
        var rest = text
        while true {
            rest = skipWhiteSpace(rest)
            guard let item = items.first(where: { rest.starts(with: $0.opening.utf8) }) else { break }
            let content = rest.dropFirst(item.opening.utf8.count)
            guard let next = item.opening == doctype ? skipDoctype(content) : skip(content, past: item.closing) else {
                return mayGrow ? .needsMoreBytes : .other
            }
            rest = next
        }
        let beginnings = items.map(\.opening) + [byteOrderMark]
        if mayGrow, beginnings.contains(where: { $0.utf8.starts(with: rest) }) { return .needsMoreBytes }
        guard rest.first == 0x3c else { return .other }
        return element(rest.dropFirst(), mayGrow: mayGrow)
    }

    /// Returns the element whose name begins a text.
    private static func element(_ text: Text, mayGrow: Bool) -> RootElement {
        if text.starts(with: "svg".utf8) { return .svg }
        let name = text.prefix(maximumPrefixLength + 1).prefix { !delimiters.contains($0) }
        guard let colon = name.firstIndex(of: 0x3a) else {
            let isOpen = name.count == text.count && name.count <= maximumPrefixLength
            return mayGrow && isOpen ? .needsMoreBytes : .other
        }
        let local = text[(colon + 1)...]
        if local.starts(with: "svg".utf8) { return .svg }
        return mayGrow && "svg".utf8.starts(with: local) ? .needsMoreBytes : .other
    }

    /// The largest number of bytes in the prefix of a name.
    private static let maximumPrefixLength = 64
    /// The bytes that end a name: white space, "/", ">" and what may not occur in one.
    private static let delimiters: Set<UInt8> = Set(" \t\r\n/><\"'=&".utf8)

    /// Skips white space as XML defines it, and byte order marks.
    private static func skipWhiteSpace(_ text: Text) -> Text {
        var text = text
        while true {
            text = text.drop { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
            guard text.starts(with: byteOrderMark.utf8) else { return text }
            text = text.dropFirst(byteOrderMark.utf8.count)
        }
    }

    /// Skips the rest of a document type, in which texts in quotes, comments, instructions and the part in brackets may
    /// have any bytes.
    private static func skipDoctype(_ text: Text) -> Text? {
        var rest = text
        var isInBrackets = false
        while let byte = rest.first {
            let item = byte == 0x3c ? items.first { rest.starts(with: $0.opening.utf8) } : nil
            if let item {
                guard let next = skip(rest.dropFirst(item.opening.utf8.count), past: item.closing) else { return nil }
                rest = next
                continue
            }
            rest = rest.dropFirst()
            switch byte {
            case 0x22, 0x27:
                guard let next = skip(rest, past: byte == 0x22 ? "\"" : "'") else { return nil }
                rest = next
            case 0x5b: isInBrackets = true
            case 0x5d: isInBrackets = false
            case 0x3e where !isInBrackets: return rest
            default: break
            }
        }
        return nil
    }

    private static func skip(_ text: Text, past end: String) -> Text? {
        guard let first = end.utf8.first else { return text }
        var rest = text
        while let base = UnsafeRawBufferPointer(rebasing: rest).baseAddress,
            let found = memchr(base, Int32(first), rest.count)
        {
            rest = rest.dropFirst(UnsafeRawPointer(found) - base)
            if rest.starts(with: end.utf8) { return rest.dropFirst(end.utf8.count) }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// Returns the characters of ASCII, and a question mark for each other unit.
    private static func asciiText(ofUTF16 bytes: UnsafeRawBufferPointer, isLittleEndian: Bool) -> [UInt8] {
        stride(from: 2, to: bytes.count - 1, by: 2).map { offset in
            let (low, high) = isLittleEndian ? (bytes[offset], bytes[offset + 1]) : (bytes[offset + 1], bytes[offset])
            return high == 0 && low < 0x80 ? low : 0x3f
        }
    }
}
