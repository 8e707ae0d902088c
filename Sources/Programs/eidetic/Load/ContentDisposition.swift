import EideticCore
import EideticHTTP

/// The file name in a `Content-Disposition` field.
///
/// - SeeAlso: RFC 6266, section 4; RFC 8187, section 3.2.
struct ContentDisposition {
    /// The name as the server wrote it, without directories; `nil` if there is none.
    ///
    /// `filename*` goes before `filename`.
    let fileName: String?

    /// Parses a field; parts that are no parameters are left out.
    init(_ field: String) {
        var values: [String: String] = [:]
        for part in Self.parts(of: field) {
            guard let (front, rest) = part.divided(at: UInt8(ascii: "=")) else { continue }
            let name = front.trimmingWhitespace.lowercased()
            let value = Self.unquoted(rest.trimmingWhitespace)
            if values[name] == nil { values[name] = value }
        }
        let name = values["filename*"].flatMap(Self.extended) ?? values["filename"].map(Self.plain)
        // Some servers send a path of their own.
        let last = name?.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init)
        fileName = last?.isEmpty == false ? last : nil
    }

    /// Splits at the semicolons outside quotes.
    private static func parts(of field: String) -> [Substring] {
        var parts: [Substring] = []
        var start = field.startIndex
        var isQuoted = false
        var isEscaped = false
        for index in field.utf8.indices {
            let byte = field.utf8[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ";"), !isQuoted {
                parts.append(field[start..<index])
                start = field.utf8.index(after: index)
            }
        }
        return parts + [field[start...]]
    }

    private static func unquoted(_ text: Substring) -> String {
        guard let inner = text.rest(behind: "\"")?.utf8 else { return String(text) }
        guard inner.last == UInt8(ascii: "\"") else { return String(Substring(inner)) }
        var result: [UInt8] = []
        var isEscaped = false
        for byte in inner.dropLast() {
            if byte == UInt8(ascii: "\\"), !isEscaped {
                isEscaped = true
            } else {
                result.append(byte)
                isEscaped = false
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns the text of a plain value, whose bytes are UTF-8 or else ISO 8859-1, as in browsers.
    private static func plain(_ value: String) -> String {
        let bytes = value.fieldBytes
        return String(validating: bytes, as: UTF8.self) ?? latin1(bytes)
    }

    private static func latin1(_ bytes: [UInt8]) -> String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    /// Returns the text of an extended value such as `UTF-8''%e2%82%ac.png`; `nil` for other character sets.
    private static func extended(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let bytes = UniqueFileNames.percentDecodedBytes(parts[2])
        switch parts[0].lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return latin1(bytes)
        default: return nil
        }
    }
}

extension Substring {
    /// The text without white space at its ends.
    var trimmingWhitespace: Substring {
        var scalars = unicodeScalars.drop(while: \.properties.isWhitespace)
        while scalars.last?.properties.isWhitespace == true { scalars.removeLast() }
        return Substring(scalars)
    }
}
