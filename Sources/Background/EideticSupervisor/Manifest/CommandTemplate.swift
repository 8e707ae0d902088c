/// The command line of a desktop entry: the value of its key `Exec`.
///
/// - SeeAlso: Desktop Entry Specification 1.5, section 7.
package struct CommandTemplate: Sendable, Hashable {
    /// The values for the field codes `%i`, `%c` and `%k`.
    package struct Fields: Sendable, Hashable {
        package var name = ""
        package var icon: String?
        package var path = ""

        package init() {}
    }

    /// A word, whose percent signs are field codes unless it is quoted.
    private struct Word: Hashable {
        var text = ""
        var isQuoted = false
    }

    /// The program: an absolute path, or a name that is searched in `PATH`.
    package let program: String
    /// The arguments, without places for files and URLs: an application receives URLs as a callback.
    package let arguments: [String]

    package init(_ value: String, fields: Fields) throws(ManifestError) {
        let words = try Self.words(of: value)
        guard let first = words.first?.text, !first.isEmpty else { throw Self.failure("it names no program") }
        guard first.hasPrefix("/") || !first.contains("/") else {
            throw Self.failure("the program is neither an absolute path nor a name")
        }
        guard !first.contains("="), words[0].isQuoted || !first.contains("%") else {
            throw Self.failure("the name of the program contains = or %")
        }
        program = first
        var arguments = [String]()
        var places = 0
        for word in words.dropFirst() {
            arguments += word.isQuoted ? [word.text] : try Self.expand(word.text, fields: fields, places: &places)
        }
        guard places <= 1 else { throw Self.failure("it has several of %f, %F, %u and %U") }
        self.arguments = arguments
    }

    private static func failure(_ reason: String) -> ManifestError { .invalidValue(key: "Exec", reason: reason) }

    // MARK: Words

    /// Divides a command line at its spaces.
    private static func words(of value: String) throws(ManifestError) -> [Word] {
        var words = [Word]()
        // A combining mark does not belong to the sign before it.
        var rest = value.unicodeScalars[...]
        while let first = rest.first {
            if first == " " {
                rest.removeFirst()
                continue
            }
            guard words.count < DesktopEntry.listLimit else {
                throw .tooMany("words in Exec", limit: DesktopEntry.listLimit)
            }
            words.append(first == "\"" ? try takeQuoted(from: &rest) : try takePlain(from: &rest))
        }
        return words
    }

    /// Takes a word up to the next space.
    private static func takePlain(from rest: inout Substring.UnicodeScalarView) throws(ManifestError) -> Word {
        let text = rest.prefix { $0 != " " }
        rest = rest.dropFirst(text.count)
        if let reserved = text.first(where: { "\t\n\r\"'\\><~|&;$*?#()`".unicodeScalars.contains($0) }) {
            throw failure("\(reserved) is not between quotation marks")
        }
        return Word(text: String(text))
    }

    private static func takeQuoted(from rest: inout Substring.UnicodeScalarView) throws(ManifestError) -> Word {
        var word = Word(isQuoted: true)
        rest.removeFirst()
        while let character = rest.popFirst() {
            switch character {
            case "\"":
                guard rest.first ?? " " == " " else { throw failure("a quotation mark ends within a word") }
                return word
            case "\\":
                guard let escaped = rest.popFirst(), "\"`$\\".unicodeScalars.contains(escaped) else {
                    throw failure("a backslash is not before one of \" ` $ \\")
                }
                word.text.unicodeScalars.append(escaped)
            case "`", "$": throw failure("\(character) between quotation marks is not behind a backslash")
            default: word.text.unicodeScalars.append(character)
            }
        }
        throw failure("a quotation mark has no end")
    }

    // MARK: Field codes

    /// Replaces the field codes in a word; a word that is nothing else may become none, or two.
    private static func expand(_ text: String, fields: Fields, places: inout Int) throws(ManifestError) -> [String] {
        if text == "%i" { return fields.icon.map { ["--icon", $0] } ?? [] }
        var result = ""
        var rest = text.unicodeScalars[...]
        var isPlace = false
        while let character = rest.popFirst() {
            guard character == "%" else {
                result.unicodeScalars.append(character)
                continue
            }
            switch rest.popFirst() {
            case "%": result.append("%")
            case "c": result += fields.name
            case "k": result += fields.path
            case "f", "F", "u", "U": (isPlace, places) = (true, places + 1)
            // Deprecated: to be removed.
            case "d", "D", "n", "N", "v", "m": isPlace = true
            case "i": throw failure("%i is part of a word")
            case let code: throw failure("%\(code.map { String($0) } ?? "") is no field code")
            }
        }
        return isPlace && result.isEmpty ? [] : [result]
    }
}
