#if SVG
import EideticCore

/// The encodings of SVG documents whose markup can be read.
///
/// - SeeAlso: XML 1.0, section 4.3.3 and appendix F.
enum SVGEncoding {
    /// Prefixes of the names of encodings in which `<`, `>` and quotation marks are those of ASCII and nothing else.
    private static let compatible = [
        "iso-8859-", "iso8859", "latin", "windows-125", "cp125", "koi8", "euc-", "gb2312",
        "macintosh",
    ]
    /// Prefixes of the names of encodings in which the second byte of a character may be a letter of ASCII.
    private static let paired = ["shift_jis", "gbk", "gb18030", "big5"]
    /// Prefixes of the names of encodings that are parts of UTF-8.
    private static let unicode = ["utf-8", "utf8", "us-ascii", "ascii"]

    /// Returns the document with its markup in UTF-8, and how names in it are compared; characters of other encodings
    /// become others that are not ASCII.
    ///
    /// UTF-16 is not detected as SVG.
    ///
    /// - Throws: `unsupportedFormat` for other encodings.
    static func decode(_ bytes: UnsafeRawBufferPointer) throws(EideticError) -> (text: String, names: SVGNames) {
        let mark = bytes.starts(with: "\u{feff}".utf8)
        let content = bytes.dropFirst(mark ? 3 : 0)
        guard let name = declaredName(in: content), !unicode.contains(where: { name.hasPrefix($0) }) else {
            return (String(decoding: bytes, as: UTF8.self), SVGNames())
        }
        let isPaired = paired.contains { name.hasPrefix($0) }
        guard !mark, isPaired || compatible.contains(where: { name.hasPrefix($0) }) else {
            throw EideticError(.unsupportedFormat, message: "svg: the encoding \(name.prefix(20)) is not supported")
        }
        let isShiftJIS = name.hasPrefix("shift_jis")
        let text = isPaired ? singles(of: bytes, isShiftJIS: isShiftJIS) : String(decoding: bytes, as: UTF8.self)
        return (text, SVGNames(isUnicode: false))
    }

    /// Returns the encoding in the XML declaration, in lower case; `nil` if there is none.
    private static func declaredName(in bytes: Slice<UnsafeRawBufferPointer>) -> String? {
        guard bytes.starts(with: "<?xml".utf8), bytes.dropFirst(5).first.map(SVGMarkup.isSpace) == true else {
            return nil
        }
        let declaration = bytes.prefix(1_024).prefix { $0 != UInt8(ascii: ">") }
        let words = String(decoding: declaration, as: UTF8.self).unicodeScalars.split { $0 == "\"" || $0 == "'" }
        guard let key = words.firstIndex(where: { Substring($0).containsASCII("encoding") }), key + 1 < words.count
        else { return nil }
        return Substring(words[key + 1]).lowercased()
    }

    /// Returns text with one character for each pair of bytes.
    private static func singles(of bytes: UnsafeRawBufferPointer, isShiftJIS: Bool) -> String {
        var text: [UInt8] = [], rest = bytes[...]
        while let byte = rest.popFirst() {
            let isKatakana = isShiftJIS && (0xa0...0xdf).contains(byte)
            if byte > 0x80, !isKatakana { rest = rest.dropFirst() }
            text.append(byte < 0x80 ? byte : 0xff)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
#endif
