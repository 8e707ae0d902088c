/// The Base64 encoding.
///
/// - SeeAlso: RFC 4648, section 4.
enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes bytes, with padding by `=`.
    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.enumerated().reduce(UInt32(0)) { $0 | UInt32($1.element) << UInt32(16 - 8 * $1.offset) }
            for digit in 0..<4 {
                let isFilled = digit <= group.count
                text.append(isFilled ? digits[Int(bits >> UInt32(18 - 6 * digit)) & 63] : UInt8(ascii: "="))
            }
        }
        return text
    }
}
