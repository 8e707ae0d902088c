extension String {
    /// The text with `…` for the password of each URL in it: `http://bob:…@host/`.
    ///
    /// - Complexity: O(*n*); a text without a user's name is not copied.
    package var withoutPasswords: String { replacing(credentialRanges()) }

    /// The text, which is one URL, with `…` for its password and those of URLs within it.
    ///
    /// - Complexity: O(*n*); a URL without a user's name is not copied.
    package var withoutPasswordsOfURL: String { replacing(credentialRanges(isURL: true)) }

    private func replacing(_ ranges: [Range<Int>]) -> String {
        var text: [UInt8] = []
        var end = 0
        for range in ranges {
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
    /// have spaces, tabs and line breaks, ends at a slash, `?` or `#`, and its last `@` ends the credentials. At a
    /// backslash it goes on, since a password may have one. The same holds for any other scheme before two slashes, and
    /// for two slashes that begin a word. Another scheme, which may be a word of the text or a mistake, must begin a
    /// word and be followed by a password, up to a space.
    ///
    /// Where no number follows the host's colon, a password that is not encoded may have the end in it. All before the
    /// last `@` behind it is then taken for credentials, too: in a text up to the end of the line, and not if the next
    /// URL begins there. In a URL any malformed host has this effect.
    ///
    /// So a text loses rather too much: `http://h or bob@i` becomes `http://…@i`, but `http://h/ or bob@i` remains. A
    /// quotation mark ends a URL that follows one, if a space, punctuation or nothing is behind it.
    ///
    /// - Parameter isURL: `true` for a text that is one URL, which has neither lines nor quotation marks.
    /// - Returns: Their positions in bytes of UTF-8, without the `@` behind them.
    /// - Complexity: O(*n*).
    /// - SeeAlso: URL Standard, section 4.4, "authority state".
    package func credentialRanges(isURL: Bool = false) -> [Range<Int>] {
        guard contains(byte: UInt8(ascii: "@")) else { return [] }
        var scanner = CredentialScanner(bytes: Array(utf8), isURL: isURL)
        return scanner.ranges()
    }
}

/// A search for the credentials of the URLs in a text.
private struct CredentialScanner {
    /// The bytes between a scheme and the last `@` of its authority, if it has one.
    private struct Authority {
        var end = 0
        /// The last `@` before the end, which all authorities that begin before it have in common.
        var sign = 0
    }

    let bytes: [UInt8]
    let isURL: Bool
    /// The last authorities that were found behind a name, and behind a word.
    private var named = Authority()
    private var unnamed = Authority()
    /// The last end of a quotation that was found, which all URLs that begin before it have in common.
    private var quotationEnd = 0

    init(bytes: [UInt8], isURL: Bool) {
        self.bytes = bytes
        self.isURL = isURL
    }

    mutating func ranges() -> [Range<Int>] {
        if isURL, let credentials = credentialsWithoutScheme() { return [credentials] }
        var ranges: [Range<Int>] = []
        var position = 0
        while let mark = bytes[position...].firstIndex(where: { $0 == UInt8(ascii: ":") || $0.isSlash }) {
            let isColon = bytes[mark] == UInt8(ascii: ":")
            position = mark + 1
            let start = bytes[position...].firstIndex { !$0.isSlash && !$0.isRemovedFromURL } ?? bytes.count
            let slashes = bytes[(isColon ? position : mark)..<start]
            guard let sign = isColon ? sign(behind: mark, slashes: slashes) : sign(behindSlashes: slashes) else {
                if !isColon { position = start }
                continue
            }
            ranges.append(start..<sign)
            position = sign
        }
        return ranges
    }

    /// Returns user and password of a URL that lacks its scheme, as in `bob:SECRET@host/`.
    ///
    /// Before a colon without slashes may also be a mistyped scheme, behind which are user and password.
    private func credentialsWithoutScheme() -> Range<Int>? {
        let user = bytes.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "@") && !$0.endsAuthority }
        guard user.endIndex < bytes.count, bytes[user.endIndex] == UInt8(ascii: ":"), !Self.isWeb(user),
            !["data", "file", "mailto"].contains(String(decoding: user, as: UTF8.self).lowercased())
        else { return nil }
        let rest = bytes[(user.endIndex + 1)...], authority = rest.prefix { !$0.endsAuthority }
        // A password that is not encoded may have the end in it; a port has not.
        let isPort = authority.allSatisfy { $0.isDigit }
        let sign = authority.lastIndex(of: UInt8(ascii: "@"))
        return (sign ?? (isPort ? nil : rest.lastIndex(of: UInt8(ascii: "@")))).map { 0..<$0 }
    }

    /// Returns the position of the `@` behind the credentials that follow a colon and slashes, if there are any.
    private mutating func sign(behind colon: Int, slashes: ArraySlice<UInt8>) -> Int? {
        let start = slashes.endIndex
        let scheme = bytes[..<colon].suffix(while: { $0.isLetter })
        if Self.isWeb(scheme) || slashes.elementsEqual("//".utf8) {
            return sign(behindName: start, isQuoted: followsQuotationMark(scheme.startIndex))
        }
        if start >= unnamed.end {
            let authority = bytes[start...].prefix { !$0.endsAuthority && (isURL || $0 != UInt8(ascii: " ")) }
            unnamed = Authority(end: authority.endIndex, sign: authority.lastIndex(of: UInt8(ascii: "@")) ?? 0)
        }
        guard start <= unnamed.sign, !scheme.isEmpty, beginsWord(scheme.startIndex),
            bytes[start..<unnamed.sign].contains(UInt8(ascii: ":"))
        else { return nil }
        return unnamed.sign
    }

    /// Returns the position of the `@` behind the credentials that follow two slashes without a scheme.
    private mutating func sign(behindSlashes slashes: ArraySlice<UInt8>) -> Int? {
        guard slashes.count >= 2, slashes[slashes.startIndex + 1].isSlash, beginsWord(slashes.startIndex),
            slashes.endIndex < bytes.count, isURL || bytes[slashes.endIndex] != UInt8(ascii: " ")
        else { return nil }
        return sign(behindName: slashes.endIndex, isQuoted: followsQuotationMark(slashes.startIndex))
    }

    /// Returns the position of the `@` behind the credentials that begin at `start`, if there are any.
    private mutating func sign(behindName start: Int, isQuoted: Bool) -> Int? {
        if start >= named.end {
            let rest = bytes[start..<(isQuoted && !isURL ? endOfQuotation(from: start) : bytes.count)]
            var authority = rest.prefix { !$0.endsAuthority }
            if !isWellFormed(authority) {
                let line = isURL ? rest : rest.prefix { $0 >= 0x20 }
                if line.endIndex > authority.endIndex { authority = line }
            }
            named = Authority(end: authority.endIndex, sign: authority.lastIndex(of: UInt8(ascii: "@")) ?? 0)
        }
        return start <= named.sign ? named.sign : nil
    }

    /// Returns whether an authority ends where it seems to end: whether its port is a number or, of a URL, its host can
    /// be one, too.
    private func isWellFormed(_ authority: ArraySlice<UInt8>) -> Bool {
        let host = authority.suffix(while: { $0 != UInt8(ascii: "@") })
        if host.first == UInt8(ascii: "["), let bracket = host.firstIndex(of: UInt8(ascii: "]")) {
            let port = host[(bracket + 1)...]
            return host[..<bracket].dropFirst().allSatisfy { $0.isAddress }
                && (port.isEmpty || port.first == UInt8(ascii: ":") && port.dropFirst().allSatisfy { $0.isDigit })
        }
        guard let colon = host.firstIndex(of: UInt8(ascii: ":")) else { return !isURL || host.allSatisfy { $0.isHost } }
        if host[(colon + 1)...].allSatisfy({ $0.isDigit }) { return !isURL || host[..<colon].allSatisfy { $0.isHost } }
        guard !isURL, host.last == UInt8(ascii: ":"), bytes[host.endIndex...].starts(with: "//".utf8) else {
            return false
        }
        // The next URL of the text begins here.
        return Self.isWeb(host.dropLast().suffix(while: { $0.isLetter }))
    }

    /// Returns the position of the quotation mark that ends a quoted URL, or the end of the text.
    private mutating func endOfQuotation(from start: Int) -> Int {
        guard start > quotationEnd else { return quotationEnd }
        let end = bytes[start...].indices.first { index in
            guard bytes[index] == UInt8(ascii: "\"") else { return false }
            return index + 1 == bytes.count || bytes[index + 1] <= 0x20 || ",.;:)]}".utf8.contains(bytes[index + 1])
        }
        quotationEnd = end ?? bytes.count
        return quotationEnd
    }

    private func followsQuotationMark(_ index: Int) -> Bool { index > 0 && bytes[index - 1] == UInt8(ascii: "\"") }

    private func beginsWord(_ index: Int) -> Bool { index == 0 || " \t\r\n\"'(<=".utf8.contains(bytes[index - 1]) }

    private static func isWeb(_ scheme: ArraySlice<UInt8>) -> Bool {
        guard 2...5 ~= scheme.count else { return false }
        let text = String(decoding: scheme, as: UTF8.self).lowercased()
        return ["http", "https", "ftp", "ws", "wss"].contains(text)
    }
}

extension ArraySlice<UInt8> {
    /// Returns the longest end of the bytes that has a property.
    fileprivate func suffix(while hasProperty: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        self[(lastIndex { !hasProperty($0) }.map { $0 + 1 } ?? startIndex)...]
    }
}

extension UInt8 {
    /// A Boolean value indicating whether the byte is a slash or a backslash.
    fileprivate var isSlash: Bool { self == UInt8(ascii: "/") || self == UInt8(ascii: "\\") }

    /// A Boolean value indicating whether the byte has no meaning within a URL: a tab or a part of a line break.
    fileprivate var isRemovedFromURL: Bool { self == 9 || self == 10 || self == 13 }

    fileprivate var endsAuthority: Bool { "/?#".utf8.contains(self) }

    fileprivate var isDigit: Bool { 48...57 ~= self }

    fileprivate var isLetter: Bool { 65...90 ~= self || 97...122 ~= self }

    /// A Boolean value indicating whether an address of IPv6 or its zone may have the byte.
    fileprivate var isAddress: Bool { isDigit || isLetter || ":.%-_~".utf8.contains(self) }

    /// A Boolean value indicating whether the name of a host may have the byte.
    fileprivate var isHost: Bool { isDigit || isLetter || self >= 0x80 || "-._~%".utf8.contains(self) }
}
