import EideticCore

extension String {
    /// The text with `A` to `Z` in lower case.
    package var lowercasedASCII: String {
        guard utf8.contains(where: { (65...90).contains($0) }) else { return self }
        return String(decoding: utf8.map { (65...90).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// The text without spaces and tabs around it.
    package var trimmingOptionalWhitespace: String {
        func isBlank(_ byte: UInt8?) -> Bool { byte == 0x20 || byte == 0x09 }
        guard isBlank(utf8.first) || isBlank(utf8.last) else { return self }
        // Not by characters: a combining mark behind a space is one with it.
        var bytes = utf8[...]
        while isBlank(bytes.first) { bytes.removeFirst() }
        while isBlank(bytes.last) { bytes.removeLast() }
        return String(Substring(bytes))
    }

    /// The non-negative integer that the text consists of, at most `Int.max`; `nil` if it contains anything but digits.
    package var httpInteger: Int? {
        guard !isEmpty, utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(self) ?? .max
    }

    /// The members of a comma-separated list, without white space around them.
    ///
    /// Commas within quotes do not separate.
    ///
    /// Empty members are left out.
    /// - SeeAlso: RFC 9110, section 5.6.1.
    package var httpListMembers: [String] {
        guard contains(byte: UInt8(ascii: ",")) else {
            let member = trimmingOptionalWhitespace
            return member.isEmpty ? [] : [member]
        }
        var members: [[UInt8]] = [[]]
        var isQuoted = false
        var isEscaped = false
        for byte in utf8 {
            if byte == UInt8(ascii: ","), !isQuoted {
                members.append([])
                continue
            }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && byte == UInt8(ascii: "\\") && !isEscaped
            members[members.count - 1].append(byte)
        }
        return members.map { String(decoding: $0, as: UTF8.self).trimmingOptionalWhitespace }.filter { !$0.isEmpty }
    }

    /// The content of a quoted string; `nil` if the text is not a complete, well-formed one.
    ///
    /// - SeeAlso: RFC 9110, section 5.6.4.
    package var httpUnquoted: String? {
        guard utf8.count >= 2, utf8.first == UInt8(ascii: "\""), utf8.last == UInt8(ascii: "\"") else { return nil }
        var bytes: [UInt8] = []
        var isEscaped = false
        for byte in utf8.dropFirst().dropLast() {
            if !isEscaped, byte == UInt8(ascii: "\\") {
                isEscaped = true
                continue
            }
            if !isEscaped, byte == UInt8(ascii: "\"") { return nil }
            isEscaped = false
            bytes.append(byte)
        }
        return isEscaped ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
