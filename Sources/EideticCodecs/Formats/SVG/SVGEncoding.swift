#if SVG
import EideticCore

/// The encodings of SVG documents whose markup can be read.
///
/// - SeeAlso: XML 1.0, section 4.3.3 and appendix F.
enum SVGEncoding {
    /// Prefixes of the names of encodings in which `<`, `>` and quotation marks are those of ASCII and nothing else.
    private static let compatible = [
        "utf-8", "utf8", "us-ascii", "ascii", "iso-8859-", "iso8859", "latin", "windows-125", "cp125", "koi8",
        "shift_jis",
        "euc-", "gb2312", "gbk", "gb18030", "big5", "macintosh",
    ]

    /// Returns the document with its markup in UTF-8; bytes that are not valid in it become other characters.
    ///
    /// UTF-16 is not detected as SVG.
    ///
    /// - Throws: `unsupportedFormat` for other encodings.
    static func decode(_ bytes: UnsafeRawBufferPointer) throws(EideticError) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let name = declaredName(in: text) else { return text }
        guard compatible.contains(where: { name.hasPrefix($0) }) else {
            throw EideticError(.unsupportedFormat, message: "svg: the encoding \(name.prefix(20)) is not supported")
        }
        return text
    }

    /// Returns the encoding in the XML declaration, in lower case; `nil` if there is none.
    private static func declaredName(in text: String) -> String? {
        let declaration = text.prefix(1_024).prefix { $0 != ">" }
        guard declaration.contains("<?xml"), let key = declaration.range(of: "encoding") else { return nil }
        let value = declaration[key.upperBound...].drop { $0 != "\"" && $0 != "'" }.dropFirst()
        return value.prefix { $0 != "\"" && $0 != "'" }.lowercased()
    }
}

extension Substring {
    /// Returns the range of the first occurrence of an ASCII word.
    fileprivate func range(of word: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(word) { return start..<index(start, offsetBy: word.count) }
            start = index(after: start)
        }
        return nil
    }
}
#endif
