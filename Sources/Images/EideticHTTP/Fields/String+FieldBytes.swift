extension String {
    /// The text of bytes of a field, from which ``fieldBytes`` makes the same bytes again.
    ///
    /// It is their text in UTF-8. Of bytes that are not UTF-8, or are that of a character below, those above 7F each
    /// become a character for private use, from U+EF80 for 80 to U+EFFF for FF.
    /// - SeeAlso: RFC 9110, section 5.5: such bytes are opaque data.
    package init(fieldBytes bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        if let text = String(validating: bytes, as: UTF8.self), !text.containsFieldBytes {
            self = text
        } else {
            self.init()
            for byte in bytes {
                let code = byte < 0x80 ? UInt32(byte) : Self.firstByteCharacter + UInt32(byte) - 0x80
                if let character = Unicode.Scalar(code) { unicodeScalars.append(character) }
            }
        }
    }

    /// The bytes of a field with this text.
    package var fieldBytes: [UInt8] {
        guard containsFieldBytes else { return Array(utf8) }
        return unicodeScalars.flatMap { scalar -> [UInt8] in
            guard Self.isByte(scalar) else { return Array(String(scalar).utf8) }
            return [UInt8(truncatingIfNeeded: scalar.value - Self.firstByteCharacter + 0x80)]
        }
    }

    private static let firstByteCharacter: UInt32 = 0xef80

    private static func isByte(_ scalar: Unicode.Scalar) -> Bool { (0xef80...0xefff).contains(scalar.value) }

    /// A Boolean value indicating whether a character stands for a byte; EE is the first byte of all of them.
    private var containsFieldBytes: Bool { utf8.contains(0xee) && unicodeScalars.contains(where: Self.isByte) }
}

extension String {
    /// Returns a Boolean value indicating whether two texts have the same bytes.
    ///
    /// `==` compares texts by canonical equivalence, so that "é" as one character equals "e" with an accent. To a
    /// server they are different, and so are the users whose names or tokens they are.
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}

extension Optional<String> {
    /// Returns a Boolean value indicating whether two texts have the same bytes, or both are missing.
    package func hasSameBytes(as other: String?) -> Bool {
        guard let self, let other else { return self == nil && other == nil }
        return self.hasSameBytes(as: other)
    }
}
