/// Pictures in the graphics protocol of the terminal kitty.
///
/// - SeeAlso: https://sw.kovidgoyal.net/kitty/graphics-protocol/
enum KittyEncoder {
    /// The most bytes of base64 in one piece.
    private static let chunkLength = 4_096

    /// Transmits the pixels as RGBA and shows them at the cursor; the terminal is asked not to answer.
    static func encode(_ pixels: StraightPixels) -> [UInt8] {
        let bytes = pixels.colors.flatMap { [$0.x, $0.y, $0.z, $0.w] }
        let text = Base64.encode(bytes)
        var output: [UInt8] = []
        var control = "a=T,q=2,f=32,s=\(pixels.width),v=\(pixels.height),"
        for start in stride(from: 0, to: text.count, by: chunkLength) {
            let end = min(text.count, start + chunkLength)
            output += "\u{1b}_G\(control)m=\(end < text.count ? 1 : 0);".utf8
            output += text[start..<end]
            output += "\u{1b}\\".utf8
            control = ""
        }
        return output + "\n".utf8
    }
}

/// Bytes as text.
///
/// - SeeAlso: RFC 4648, section 4.
enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes bytes, with `=` at the end where their number is no multiple of three.
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
