import EideticCodecs

/// The content of a `data:` URL.
///
/// - SeeAlso: RFC 2397; Fetch Standard, section 6, "data: URL processor".
package struct DataURL {
    let bytes: [UInt8]

    /// Reads the data of a URL, as browsers do: without its fragment, with percent signs that stand for themselves, and
    /// with base64 of any padding and with white space.
    init(_ url: String) throws(EideticError) {
        // The URL Standard removes these characters from any URL, and what is not printable from its ends.
        let text = url.utf8.filter { ![0x09, 0x0a, 0x0d].contains($0) }.prefix { $0 != UInt8(ascii: "#") }
        guard let comma = text.firstIndex(of: UInt8(ascii: ",")) else {
            throw EideticError(.invalidURL, message: "a data URL has no comma before its data")
        }
        var payload = text[(comma + 1)...]
        while let last = payload.last, last <= 0x20 { payload.removeLast() }
        let plain = Self.percentDecoded(payload)
        guard Self.isBase64(mediaType: text[..<comma]) else {
            bytes = plain
            return
        }
        guard let decoded = Self.base64Decoded(plain) else {
            throw EideticError(.invalidURL, message: "the data of a data URL is not base64")
        }
        bytes = decoded
    }

    /// Returns whether a media type ends with `;`, spaces, and `base64` in any case.
    private static func isBase64(mediaType: ArraySlice<UInt8>) -> Bool {
        var type = mediaType
        func removeSpaces() { while type.last == 0x20 { type.removeLast() } }
        removeSpaces()
        guard String(decoding: type.suffix(6), as: UTF8.self).lowercased() == "base64" else { return false }
        type.removeLast(6)
        removeSpaces()
        return type.last == UInt8(ascii: ";")
    }

    /// Decodes base64 without regard to ASCII white space and to bits behind the last byte.
    ///
    /// - Returns: The bytes; `nil` for other characters, and for a length or padding that cannot be.
    /// - SeeAlso: Infra Standard, section 7, "forgiving-base64 decode".
    private static func base64Decoded(_ text: [UInt8]) -> [UInt8]? {
        var digits = text.filter { ![0x09, 0x0a, 0x0c, 0x0d, 0x20].contains($0) }
        if digits.count % 4 == 0 {
            for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
        }
        let isPlain = !digits.contains { [UInt8(ascii: "="), UInt8(ascii: "-"), UInt8(ascii: "_")].contains($0) }
        return isPlain && digits.count % 4 != 1 ? Base64.decode(String(decoding: digits, as: UTF8.self)) : nil
    }

    /// Decodes percent-encoded bytes; a percent sign without two hexadecimal digits stands for itself.
    package static func percentDecoded(_ text: some Sequence<UInt8>) -> [UInt8] {
        let percent = UInt8(ascii: "%")
        var bytes: [UInt8] = []
        var remaining = Array(text)[...]
        bytes.reserveCapacity(remaining.count)
        while let byte = remaining.popFirst() {
            let digits = remaining.prefix(2)
            if byte == percent, digits.count == 2, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                remaining = remaining.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
