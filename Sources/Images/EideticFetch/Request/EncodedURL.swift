import EideticHTTP

/// The percent-encoding of URLs and references, without which libcurl would send what it gets.
///
/// - SeeAlso: URL Standard, sections 1.3 and 4.4.
enum EncodedURL {
    /// Returns a URL or a reference in which path and query have no character that a request must not contain.
    ///
    /// As in browsers, white space around it and tabs and line breaks within it are removed, and a backslash before the
    /// query is a slash. A percent sign stands for itself, and a byte above 7F is encoded as the byte that it is. The
    /// fragment, which is never sent, is left out.
    static func text(_ source: String) -> String {
        var bytes = source.fieldBytes.filter { ![0x09, 0x0a, 0x0d].contains($0) }[...]
        while let first = bytes.first, first <= 0x20 { bytes.removeFirst() }
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        let reference = bytes.prefix { $0 != UInt8(ascii: "#") }
        let front = reference.prefix { $0 != UInt8(ascii: "?") }
        let slashed = front.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }
        let path = slashed[endOfAuthority(in: slashed)...]
        let start = String(decoding: slashed[..<path.startIndex], as: UTF8.self)
        return start + encoded(plainDots(in: path)) + encoded(reference[front.endIndex...], with: "'")
    }

    /// Returns a URL whose authority follows two slashes, whatever their number, and whose user and password are
    /// encoded.
    ///
    /// - SeeAlso: URL Standard, section 1.3, "userinfo percent-encode set", and section 4.4, "special authority ignore
    ///   slashes state" and "authority state".
    static func withAuthority(_ url: String) -> String {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")),
            ["http", "https"].contains(url[..<colon].lowercased())
        else { return url }
        let rest = url.utf8[colon...].dropFirst().drop { $0 == UInt8(ascii: "/") }
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard let sign = authority.lastIndex(of: UInt8(ascii: "@")) else {
            return "\(url[..<colon])://\(Substring(rest))"
        }
        return "\(url[..<colon])://\(encoded(Array(authority[..<sign])[...], with: "@[]"))\(url[sign...])"
    }

    /// Returns a reference without a scheme that is the base's and has no authority behind it.
    ///
    /// - SeeAlso: URL Standard, section 4.4, "special relative or authority state".
    static func relativePart(of reference: String, toScheme scheme: Substring) -> String {
        let front = reference.prefix(scheme.count + 1)
        let rest = reference.dropFirst(scheme.count + 1)
        return front.lowercased() == "\(scheme):" && !rest.hasPrefix("//") ? String(rest) : reference
    }

    /// Returns a path in which the dots of segments that are `.` or `..` are not encoded.
    private static func plainDots(in path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard path.contains(UInt8(ascii: "%")) else { return path }
        let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { segment in
            let plain = String(decoding: segment, as: UTF8.self).lowercased().replacing("%2e", with: ".")
            return plain == "." || plain == ".." ? Array(plain.utf8) : Array(segment)
        }
        return Array(segments.joined(separator: [UInt8(ascii: "/")]))[...]
    }

    /// Returns the position behind scheme and authority, which have rules of their own.
    private static func endOfAuthority(in bytes: [UInt8]) -> Int {
        let colon = bytes.firstIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
        let start = colon.map { bytes[$0] == UInt8(ascii: ":") ? $0 + 1 : 0 } ?? 0
        let slashes = bytes[start...].prefix { $0 == UInt8(ascii: "/") }
        guard slashes.count >= 2 else { return start }
        return bytes[slashes.endIndex...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.count
    }

    /// Returns text in which the characters that are encoded everywhere, and some others, are encoded.
    private static func encoded(_ bytes: ArraySlice<UInt8>, with others: String = "") -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for byte in bytes {
            if mustBeEncoded(byte) || others.utf8.contains(byte) {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            } else {
                text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The sets of the URL Standard, and for servers that refuse them the others that no URL of RFC 3986 has, without
    /// brackets.
    private static func mustBeEncoded(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte > 0x7e || "\"<>\\^`{|}".utf8.contains(byte)
    }
}
