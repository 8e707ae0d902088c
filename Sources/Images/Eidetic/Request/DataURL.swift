import EideticCore
import FoundationEssentials

/// The content of a `data:` URL.
///
/// - SeeAlso: RFC 2397.
struct DataURL {
    let bytes: [UInt8]

    init(_ url: String) throws(EideticError) {
        guard let comma = url.firstIndex(of: ",") else {
            throw EideticError(.invalidURL, message: "a data URL has no comma before its data")
        }
        let isBase64 = url[..<comma].lowercased().hasSuffix(";base64")
        let payload = url[url.index(after: comma)...]
        guard let plain = Self.percentDecoded(payload) else {
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

    private static func percentDecoded(_ text: Substring) -> [UInt8]? {
        let source = Array(text.utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.count)
        var index = 0
        while index < source.count {
            if source[index] != UInt8(ascii: "%") {
                bytes.append(source[index])
                index += 1
                continue
            }
            guard index + 2 < source.count,
                let byte = UInt8(String(decoding: source[index + 1...index + 2], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(byte)
            index += 3
        }
        return bytes
    }
}
