#if SVG
import EideticCore

/// An image in a `data:` URL of an SVG document, which librsvg decodes with other libraries and without a limit.
///
/// - SeeAlso: RFC 2397; RFC 4648, section 4.
enum SVGEmbeddedImage {
    /// The parts of a `data:` URL.
    struct DataURL {
        /// The media type with its parameters.
        let type: String
        let content: ArraySlice<UInt8>
    }

    /// Returns `true` for a `data:` URL.
    static func isDataURL(_ reference: some Collection<UInt8>) -> Bool {
        let start = reference.lazy.filter { !isLineEnd($0) }.drop { $0 <= 32 }.prefix(5)
        return start.map(\.lowercasedASCII).elementsEqual("data:".utf8)
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 9 || byte == 10 || byte == 13 }

    /// Returns the parts of a reference that is a `data:` URL, as the URL Standard parses it.
    static func dataURL(_ reference: String) -> DataURL? {
        guard isDataURL(reference.utf8) else { return nil }
        let characters = reference.utf8.filter { !isLineEnd($0) }.drop { $0 <= 32 }.dropFirst(5)
        let parts = characters.prefix { $0 != UInt8(ascii: "#") }
            .split(separator: UInt8(ascii: ","), maxSplits: 1, omittingEmptySubsequences: false)
        return DataURL(type: String(decoding: parts[0], as: UTF8.self), content: parts.count > 1 ? parts[1] : [])
    }

    /// Returns the bytes of a `data:` URL, and their format.
    ///
    /// - Throws: `unsupportedFormat` if the format is unknown, and with it the size.
    static func content(of url: DataURL) throws(EideticError) -> (bytes: [UInt8], format: ImageFormat) {
        var bytes = decodedPercent(url.content)
        if url.type.containsASCII("base64") {
            let parameter = url.type.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).last
            let word = parameter?.drop { $0 == 32 }.reversed().drop { $0 == 32 }.map(\.lowercasedASCII) ?? []
            guard word.reversed().elementsEqual("base64".utf8), url.type.utf8.contains(UInt8(ascii: ";")) else {
                throw EideticError(.unsupportedFormat, message: "svg: an embedded image has an unknown coding")
            }
            bytes = decodedBase64(bytes)
        }
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
    private static func decodedPercent(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text
        while let start = rest.firstIndex(of: UInt8(ascii: "%")) {
            bytes += rest[..<start]
            let digits = rest[start...].dropFirst().prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            bytes.append(digits.count == 2 ? UInt8(digits[0] << 4 | digits[1]) : UInt8(ascii: "%"))
            rest = rest[(start + (digits.count == 2 ? 3 : 1))...]
        }
        bytes += rest
        return bytes
    }

    /// Returns the bytes of base64 text up to its padding; other characters are ignored.
    private static func decodedBase64(_ text: [UInt8]) -> [UInt8] {
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
