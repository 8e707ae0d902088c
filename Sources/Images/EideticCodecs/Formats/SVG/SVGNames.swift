#if SVG
/// The comparison of identifiers and classes, byte by byte: characters that are equal to a reader are not to librsvg.
struct SVGNames {
    /// A Boolean value indicating whether the document's characters are known, which is so in UTF-8 only.
    var isUnicode = true

    /// Returns the bytes by which a name is compared.
    ///
    /// Spaces around it are left out and those within are one, as in an attribute that is declared to be an identifier.
    /// If the characters are not known, any that are not ASCII are equal.
    func key(of name: some Sequence<UInt8>) -> [UInt8] {
        var key: [UInt8] = []
        for byte in name {
            let byte = isUnicode || byte < 0x80 ? byte : 0x80
            let isRepeated = key.last.map { $0 == byte } ?? (byte == 32)
            guard !isRepeated || byte != 32 && (isUnicode || byte < 0x80) else { continue }
            key.append(byte)
        }
        if key.last == 32 { key.removeLast() }
        return key
    }
}

extension StringProtocol {
    /// Returns `true` if a word in lower case occurs in the text, in any case; compares bytes.
    func containsASCII(_ word: StaticString) -> Bool {
        word.withUTF8Buffer { word in
            var rest = utf8[...]
            while let start = rest.firstIndex(where: { $0.lowercasedASCII == word[0] }) {
                rest = rest[start...]
                let head = rest.prefix(word.count)
                if head.count == word.count, zip(head, word).allSatisfy({ $0.lowercasedASCII == $1 }) { return true }
                rest = rest.dropFirst()
            }
            return false
        }
    }
}

extension UInt8 {
    /// The small letter of a capital letter; other bytes stay.
    var lowercasedASCII: UInt8 { (0x41...0x5a).contains(self) ? self | 0x20 : self }
}
#endif
