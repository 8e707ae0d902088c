import EideticCore

/// A JSON value for output; objects keep the order of their members.
///
/// - SeeAlso: RFC 8259.
package enum JSON: Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([(name: String, value: JSON)])

    package static func optional(_ text: String?) -> JSON { text.map(JSON.string) ?? .null }

    /// Returns a message without the passwords of URLs.
    package static func redacted(_ text: String) -> JSON { .string(text.withoutPasswords) }

    /// Returns a URL without its password.
    package static func url(_ url: String) -> JSON { .string(url.withoutPasswordsOfURL) }

    package static func optional(_ number: Int?) -> JSON { number.map(JSON.integer) ?? .null }

    /// The value as text in one line.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The UTF-8 of the text.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += String(value).utf8
        case .number(let value): bytes += Self.decimal(value).utf8
        case .string(let value): Self.write(value, to: &bytes)
        case .array(let values):
            Self.write(values, opening: "[", closing: "]", to: &bytes) { $0.write(to: &$1) }
        case .object(let members):
            Self.write(members, opening: "{", closing: "}", to: &bytes) { member, bytes in
                Self.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
        }
    }

    private static func write<Element>(
        _ elements: [Element],
        opening start: Unicode.Scalar,
        closing end: Unicode.Scalar,
        to bytes: inout [UInt8],
        writeElement: (Element, inout [UInt8]) -> Void
    ) {
        bytes.append(UInt8(ascii: start))
        for (index, value) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            writeElement(value, &bytes)
        }
        bytes.append(UInt8(ascii: end))
    }

    /// Returns the number with at most three decimal places, or null if it is not finite.
    private static func decimal(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "null" }
        let rounded = (value * 1_000).rounded() / 1_000
        return rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded)
    }

    /// Returns whether a byte stands for itself within quotation marks; of a longer character none does.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20..<0x7f).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        defer { bytes.append(UInt8(ascii: "\"")) }
        let isCopied =
            text.utf8.withContiguousStorageIfAvailable { text in
                guard text.allSatisfy(isPlain) else { return false }
                bytes.append(contentsOf: text)
                return true
            } ?? false
        if isCopied { return }
        let digits = Array("0123456789abcdef".utf8)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": bytes += [UInt8(ascii: "\\"), UInt8(truncatingIfNeeded: scalar.value)]
            case "\n": bytes += "\\n".utf8
            case "\t": bytes += "\\t".utf8
            case _ where scalar.isControl:
                bytes += "\\u".utf8
                for shift in [12, 8, 4, 0] { bytes.append(digits[Int(scalar.value >> shift & 15)]) }
            default: bytes += UTF8.encode(scalar).map { Array($0) } ?? []
            }
        }
    }
}
