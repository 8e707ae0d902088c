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
            guard let sign = part.firstIndex(of: "=") else { continue }
            let name = part[..<sign].trimmingWhitespace.lowercased()
            let value = Self.unquoted(part[part.index(after: sign)...].trimmingWhitespace)
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
        for index in field.indices {
            let character = field[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            } else if character == ";", !isQuoted {
                parts.append(field[start..<index])
                start = field.index(after: index)
            }
        }
        return parts + [field[start...]]
    }

    private static func unquoted(_ text: Substring) -> String {
        guard text.first == "\"" else { return String(text) }
        guard text.count >= 2, text.last == "\"" else { return String(text.dropFirst()) }
        var result = ""
        var isEscaped = false
        for character in text.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
            } else {
                result.append(character)
                isEscaped = false
            }
        }
        return result
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
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
