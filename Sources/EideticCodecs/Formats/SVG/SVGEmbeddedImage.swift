#if SVG
import EideticCore

/// An image in a `data:` URL of an SVG document, which librsvg decodes with other libraries and without a limit.
///
/// - SeeAlso: RFC 2397; RFC 4648, section 4.
enum SVGEmbeddedImage {
    /// Returns the bytes of a `data:` URL, and their format.
    ///
    /// - Throws: `unsupportedFormat` if the format is unknown, and with it the size.
    static func content(of url: String) throws(EideticError) -> (bytes: [UInt8], format: ImageFormat) {
        let comma = url.utf8.firstIndex(of: UInt8(ascii: ",")) ?? url.endIndex
        let text = url.utf8[comma...].dropFirst()
        let bytes = url[..<comma].containsASCII("base64") ? decodedBase64(text) : decodedPercent(text)
        guard case .format(let format) = ImageFormat.detect(in: bytes, isComplete: true) else {
            throw EideticError(.unsupportedFormat, message: "svg: an embedded image has an unknown format")
        }
        guard !GzipFile.isCompressed(bytes) else {
            throw EideticError(.unsupportedFormat, message: "svg: an embedded document is compressed")
        }
        return (bytes, format)
    }

    /// Returns the number of pixels of an embedded image that is within the limits on sides and pixels.
    ///
    /// - Throws: `limitExceeded` for a larger image, and the errors of its header.
    static func pixelCount(of bytes: [UInt8], limits: DecodeLimits) throws(EideticError) -> Int {
        guard let header = try ImageDecoder.header(of: bytes) else { return 0 }
        try DecodePlan.check(header, drawnSize: header.size, limits: limits)
        return header.size.pixelCount
    }

    /// Returns the bytes of text with `%` before two hexadecimal digits for a byte.
    private static func decodedPercent(_ text: Substring.UTF8View) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text
        while let character = rest.popFirst() {
            let digits = String(rest.prefix(2)) ?? ""
            if character == UInt8(ascii: "%"), digits.utf8.count == 2, let byte = UInt8(digits, radix: 16) {
                bytes.append(byte)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(character)
            }
        }
        return bytes
    }

    /// Returns the bytes of base64 text up to its padding; other characters are ignored.
    private static func decodedBase64(_ text: Substring.UTF8View) -> [UInt8] {
        var bytes: [UInt8] = []
        var bits = 0, count = 0
        for character in text {
            guard character != UInt8(ascii: "=") else { break }
            guard let value = sextet(character) else { continue }
            bits = (bits << 6 | value) & 0xffff
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return bytes
    }

    private static func sextet(_ character: UInt8) -> Int? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(character) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(character) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(character) + 4
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
#endif
