import EideticCore
import FoundationEssentials

/// The content of a `data:` URL.
///
/// - SeeAlso: RFC 2397.
package struct DataURL {
    let bytes: [UInt8]

    init(_ url: String) throws(EideticError) {
        guard let comma = url.firstIndex(of: ",") else {
            throw EideticError(.invalidURL, message: "a data URL has no comma before its data")
        }
        let isBase64 = url[..<comma].lowercased().hasSuffix(";base64")
        let payload = url[url.index(after: comma)...]
        guard let plain = Self.percentDecoded(payload.utf8) else {
            throw EideticError(.invalidURL, message: "a data URL has a percent sign without two hexadecimal digits")
        }
        guard isBase64 else {
            bytes = plain
            return
        }
        let text = String(decoding: plain.filter { $0 > 0x20 }, as: UTF8.self)
        let padded = text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let decoded = Data(base64Encoded: padded) else {
            throw EideticError(.invalidURL, message: "the data of a data URL is not base64")
        }
        bytes = Array(decoded)
    }

    /// Decodes percent-encoded bytes.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - isLenient: A Boolean value indicating whether a percent sign without two digits stands for itself.
    /// - Returns: The bytes; `nil` if the text has such a sign, unless that is allowed.
    package static func percentDecoded(_ text: Substring.UTF8View, isLenient: Bool = false) -> [UInt8]? {
        let percent = UInt8(ascii: "%")
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var remaining = Array(text)[...]
        while let byte = remaining.popFirst() {
            let digits = remaining.prefix(2)
            if byte == percent, digits.count == 2, digits.allSatisfy(\.isHexadecimalDigit),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                remaining = remaining.dropFirst(2)
            } else {
                guard byte != percent || isLenient else { return nil }
                bytes.append(byte)
            }
        }
        return bytes
    }
}

extension UInt8 {
    /// A Boolean value indicating whether the byte is a hexadecimal digit in ASCII.
    fileprivate var isHexadecimalDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
