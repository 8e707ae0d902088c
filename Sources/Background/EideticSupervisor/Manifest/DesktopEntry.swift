/// The keys and values of one group of a desktop entry, or of another file with the same syntax.
///
/// - SeeAlso: Desktop Entry Specification 1.5, sections 3 and 4.
package struct DesktopEntry: Sendable, Hashable {
    /// The greatest size of a file, and of a line, in bytes.
    package static let sizeLimit = 262_144
    package static let lineLimit = 16_384
    /// The greatest number of keys in the group, and of elements in a list.
    package static let keyLimit = 1_024
    package static let listLimit = 256

    /// The values as they stand in the file.
    private var values: [String: String] = [:]

    /// Parses the bytes of a file; the keys of other groups are ignored.
    package init(parsing bytes: [UInt8], group: String = "Desktop Entry") throws(ManifestError) {
        guard bytes.count <= Self.sizeLimit else { throw .tooLarge(limit: Self.sizeLimit) }
        var number: Int = 0
        var current: String? = nil
        var isFound: Bool = false
        for line in bytes.split(separator: 10, omittingEmptySubsequences: false) {
            number += 1
            let text = try Self.text(of: line, number: number)
            guard let first = text.first, first != "#" else { continue }
            if first == "[" {
                current = try Self.group(in: text, number: number)
                if current == group, isFound { throw .duplicate("[\(group)]", line: number) }
                isFound = isFound || current == group
            } else if current == group {
                try add(text, number: number)
            } else if current == nil {
                throw .invalidLine(line: number)
            }
        }
        guard isFound else { throw .missing("[\(group)]") }
    }

    private static func text(of line: ArraySlice<UInt8>, number: Int) throws(ManifestError) -> Substring {
        guard line.count <= lineLimit else { throw .lineTooLong(line: number, limit: lineLimit) }
        // A carriage return ends the lines of some editors.
        let line = line.last == 13 ? line.dropLast() : line
        guard line.allSatisfy({ $0 >= 32 && $0 != 127 || $0 == 9 }), let text = String(validating: line, as: UTF8.self)
        else { throw .invalidText(line: number) }
        return text[...].trimmingBlanks
    }

    private static func group(in text: Substring, number: Int) throws(ManifestError) -> String {
        let name = text.dropFirst().dropLast()
        guard text.last == "]", text.utf8.count > 2, !name.contains(where: { $0 == "[" || $0 == "]" }) else {
            throw .invalidLine(line: number)
        }
        return String(name)
    }

    private mutating func add(_ text: Substring, number: Int) throws(ManifestError) {
        guard let sign = text.utf8.firstIndex(of: UInt8(ascii: "=")), sign != text.startIndex else {
            throw .invalidLine(line: number)
        }
        let key = String(text[..<sign].trimmingBlanks)
        guard values.count < Self.keyLimit else { throw .tooMany("keys", limit: Self.keyLimit) }
        let value = String(text[text.utf8.index(after: sign)...].trimmingBlanks)
        guard values.updateValue(value, forKey: key) == nil else { throw .duplicate(key, line: number) }
    }

    /// The keys of the group.
    package var keys: some Collection<String> { values.keys }

    // MARK: Values

    /// Returns the text of a key; `nil` if the key is missing.
    package func text(of key: String) throws(ManifestError) -> String? {
        guard let value = values[key] else { return nil }
        return try Self.elements(of: value, key: key, separator: nil)[0]
    }

    /// Returns the elements of a list, which ends with a semicolon or without; `nil` if the key is missing.
    package func list(of key: String) throws(ManifestError) -> [String]? {
        guard let value = values[key] else { return nil }
        var elements = try Self.elements(of: value, key: key, separator: ";")
        if elements.last == "" { elements.removeLast() }
        return elements
    }

    /// Returns the Boolean value of a key; `nil` if the key is missing.
    package func boolean(of key: String) throws(ManifestError) -> Bool? {
        switch values[key] {
        case nil: return nil
        case "true": return true
        case "false": return false
        default: throw .invalidValue(key: key, reason: "it is neither true nor false")
        }
    }

    /// Replaces the escape sequences of a value, and divides it at a separator that is not escaped.
    private static func elements(
        of value: String,
        key: String,
        separator: Unicode.Scalar?
    ) throws(ManifestError) -> [String] {
        var elements = [""]
        // A combining mark does not belong to the sign before it.
        var rest = value.unicodeScalars[...]
        while let character = rest.popFirst() {
            if character == separator {
                guard elements.count < listLimit else { throw .tooMany("elements of \(key)", limit: listLimit) }
                elements.append("")
            } else if character == "\\" {
                elements[elements.count - 1].unicodeScalars.append(
                    try escaped(rest.popFirst(), key: key, separator: separator)
                )
            } else {
                elements[elements.count - 1].unicodeScalars.append(character)
            }
        }
        return elements
    }

    private static func escaped(
        _ character: Unicode.Scalar?,
        key: String,
        separator: Unicode.Scalar?
    ) throws(ManifestError) -> Unicode.Scalar {
        switch character {
        case "s": return " "
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "\\": return "\\"
        case let character? where character == separator: return character
        default: throw .invalidValue(key: key, reason: "\\\(character.map { String($0) } ?? "") is no escape sequence")
        }
    }
}

extension Substring {
    /// The text without spaces and tabs at its ends.
    fileprivate var trimmingBlanks: Substring {
        var scalars = unicodeScalars.drop { $0 == " " || $0 == "\t" }
        while scalars.last == " " || scalars.last == "\t" { scalars.removeLast() }
        return Substring(scalars)
    }
}
