import Glibc

/// A fast parser for URLs that are in normal form already, which is true for most; libcurl takes thirty times as long.
///
/// It accepts only text that libcurl would not change. All other text is left to libcurl.
struct PlainURL {
    let origin: Origin

    /// Creates a URL; `nil` if the text may not be in normal form.
    init?(_ text: String) {
        guard
            let origin = text.utf8.withContiguousStorageIfAvailable({ Self.origin(of: UnsafeRawBufferPointer($0)) }),
            let origin
        else { return nil }
        self.origin = origin
    }

    private static func origin(of text: UnsafeRawBufferPointer) -> Origin? {
        let isSecure = text.starts(with: "https://")
        guard isSecure || text.starts(with: "http://") else { return nil }
        let start = isSecure ? 8 : 7
        guard let path = text[start...].firstIndex(of: UInt8(ascii: "/")), isPlain(path: text[path...]) else {
            return nil
        }
        let colon = text[start..<path].firstIndex(of: UInt8(ascii: ":"))
        let authority = UnsafeRawBufferPointer(rebasing: text[start..<(colon ?? path)])
        guard let host = host(of: authority) else { return nil }
        let scheme = isSecure ? "https" : "http"
        guard let colon else { return Origin(scheme: scheme, host: host, port: isSecure ? 443 : 80) }
        return port(of: text[(colon + 1)..<path]).map { Origin(scheme: scheme, host: host, port: $0) }
    }

    /// Returns a Boolean value indicating whether a path with its query needs no encoding, removal or resolution.
    private static func isPlain(path: Slice<UnsafeRawBufferPointer>) -> Bool {
        var last: UInt8 = 0
        for byte in path {
            guard plainCharacters[Int(byte)] else { return false }
            if last == UInt8(ascii: "/"), byte == UInt8(ascii: ".") { return false }
            last = byte
        }
        return last != UInt8(ascii: "?")
    }

    /// Returns a host name in lower case, or an IPv4 address with four decimal numbers.
    private static func host(of text: UnsafeRawBufferPointer) -> String? {
        guard let first = text.first, isLetter(first) || isDigit(first), text.count <= 253 else { return nil }
        var isLabelStart = true
        var endsInName = false
        for byte in text {
            guard isLetter(byte) || isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") else {
                return nil
            }
            if isLabelStart { endsInName = isLetter(byte) }
            isLabelStart = byte == UInt8(ascii: ".")
        }
        guard !isLabelStart else { return nil }
        let host = String(decoding: text, as: UTF8.self)
        // A host that ends in a number is an address, in one of many forms.
        var address = in_addr()
        return endsInName || host.withCString { inet_pton(AF_INET, $0, &address) } == 1 ? host : nil
    }

    private static func port(of digits: Slice<UnsafeRawBufferPointer>) -> Int? {
        guard (1...5).contains(digits.count), digits.first != UInt8(ascii: "0"), digits.allSatisfy(isDigit) else {
            return nil
        }
        let port = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return port <= 65_535 ? port : nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// A table of the characters that need no encoding in a path and in a query (RFC 3986, section 3.3).
    private static let plainCharacters: [Bool] = {
        let others = "ABCDEFGHIJKLMNOPQRSTUVWXYZ-._~/!*,;=:@&+?".utf8
        return (0...UInt8.max).map { isLetter($0) || isDigit($0) || others.contains($0) }
    }()
}

extension UnsafeRawBufferPointer {
    fileprivate func starts(with text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        return baseAddress.map { count >= length && memcmp($0, text.utf8Start, length) == 0 } ?? false
    }
}
