extension String {
    /// The text with every control character replaced by `?`, so that it cannot control a terminal or forge a line.
    ///
    /// - Complexity: O(*n*); a text without control characters is not copied.
    package var printable: String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { $0.isControl ? "?" : $0 }))
    }
}

extension String {
    /// The text with `…` for the password of each URL in it: `http://bob:…@host/`.
    ///
    /// - Complexity: O(*n*); a text without a user's name is not copied.
    package var withoutPasswords: String {
        var text: [UInt8] = []
        var end = 0
        for range in credentialRanges() {
            let credentials = utf8.dropFirst(range.lowerBound).prefix(range.count)
            // Without a colon the text may be a token.
            let user = credentials.firstIndex(of: UInt8(ascii: ":")).map { credentials[...$0].count } ?? 0
            text += utf8.dropFirst(end).prefix(range.lowerBound + user - end)
            text += "…".utf8
            end = range.upperBound
        }
        return end == 0 ? self : String(decoding: text + utf8.dropFirst(end), as: UTF8.self)
    }

    /// Finds user and password of each URL of the text.
    ///
    /// As in browsers, an authority may follow the scheme of the web after any number of slashes and backslashes, may
    /// have tabs and line breaks, and ends at a slash, `?` or `#`; in a text it ends at a space, too. At a backslash it
    /// goes on, since a password may have one, and in a text with a port that is no number at any of these ends, up to
    /// a quotation mark. Of another scheme, which may be a word of the text or a mistake, it follows two slashes, or
    /// has a password and begins a word.
    ///
    /// - Parameter endsAtSpace: `false` for a text that is one URL.
    /// - Returns: Their positions in bytes of UTF-8, without the `@` behind them.
    /// - Complexity: O(*n*).
    /// - SeeAlso: URL Standard, section 4.4, "authority state".
    package func credentialRanges(endsAtSpace: Bool = true) -> [Range<Int>] {
        guard utf8.contains(UInt8(ascii: "@")) else { return [] }
        let bytes = Array(utf8)
        var ranges: [Range<Int>] = []
        var position = 0
        // The last `@` before `end`, which all authorities that begin before it have in common.
        var (sign, end) = (0, 0)
        while let colon = bytes[position...].firstIndex(of: UInt8(ascii: ":")) {
            position = colon + 1
            let start = bytes[position...].firstIndex { !$0.isSlash && !$0.isRemovedFromURL } ?? bytes.count
            let scheme = Self.scheme(of: bytes[..<colon])
            let isWeb = ["http", "https", "ftp", "ws", "wss"].contains(
                String(decoding: scheme, as: UTF8.self).lowercased()
            )
            let isNamed = isWeb || bytes[position..<start].elementsEqual("//".utf8)
            if start >= end {
                let ends = endsAtSpace ? "/?# ".utf8 : "/?#".utf8
                var authority = bytes[start...].prefix { !ends.contains($0) }
                if isNamed, Self.hasMalformedPort(authority) {
                    authority = bytes[start...].prefix { $0 >= 0x20 && $0 != UInt8(ascii: "\"") }
                }
                end = authority.endIndex
                sign = authority.lastIndex(of: UInt8(ascii: "@")) ?? 0
            }
            guard start <= sign else { continue }
            let beginsWord = bytes[..<scheme.startIndex].last.map { " \t\r\n\"'(<=".utf8.contains($0) } ?? true
            let isWord = beginsWord && !scheme.isEmpty && bytes[start..<sign].contains(UInt8(ascii: ":"))
            guard isNamed || isWord else { continue }
            ranges.append(start..<sign)
            position = sign
        }
        return ranges
    }

    /// Returns the letters at the end of a text.
    private static func scheme(of text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let count = text.reversed().prefix { 65...90 ~= $0 || 97...122 ~= $0 }.count
        return text.suffix(count)
    }

    /// Returns whether an authority without credentials has a port that is no number, such as the first part of a
    /// password.
    private static func hasMalformedPort(_ authority: ArraySlice<UInt8>) -> Bool {
        guard !authority.contains(UInt8(ascii: "@")), !authority.contains(UInt8(ascii: "[")) else { return false }
        let parts = authority.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        // What has another colon may be the scheme of the next URL.
        return parts.count == 2 && !parts[1].contains(UInt8(ascii: ":")) && !parts[1].allSatisfy { 48...57 ~= $0 }
    }
}

extension UInt8 {
    /// A Boolean value indicating whether the byte is a slash or a backslash.
    fileprivate var isSlash: Bool { self == UInt8(ascii: "/") || self == UInt8(ascii: "\\") }

    /// A Boolean value indicating whether the byte has no meaning within a URL: a tab or a part of a line break.
    fileprivate var isRemovedFromURL: Bool { self == 9 || self == 10 || self == 13 }
}

extension Substring {
    /// The text with every control character replaced by `?`.
    package var printable: String { String(self).printable }
}

extension Unicode.Scalar {
    /// A Boolean value indicating whether the scalar controls a terminal or the order of a line's characters.
    ///
    /// `true` for the control characters C0, DEL and C1, for line and paragraph separators, and for bidirectional
    /// embeddings, overrides and isolates.
    package var isControl: Bool {
        switch value {
        case 0..<0x20, 0x7f..<0xa0, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
