import EideticCore

/// Functions that make untrusted text safe for a terminal and measure it.
package enum TerminalText {
    /// Returns the text with every control character replaced by `?`, so that names cannot contain control sequences,
    /// and without the passwords of URLs.
    package static func sanitized(_ text: String) -> String { text.withoutPasswords.printable }

    /// Returns a URL as text for people, safe for a terminal; a long `data:` URL without its data.
    package static func abbreviated(_ url: String) -> String {
        guard url.utf8.count > 100, url.prefix(5).lowercased() == "data:" else {
            return url.withoutPasswordsOfURL.printable
        }
        let type = url.prefix(60).prefix { $0 != "," }
        return "\(sanitized(String(type))),… (\(ByteCount(url.utf8.count)))"
    }

    /// Returns the width of a text in columns of a terminal.
    package static func columnCount(of text: String) -> Int { text.reduce(0) { $0 + columnCount(of: $1) } }

    /// Returns the text, truncated to `width` columns with `…`.
    package static func truncated(_ text: String, width: Int) -> String {
        guard columnCount(of: text) > width else { return text }
        guard width > 0 else { return "" }
        var used = 1
        let visible = text.prefix { character in
            used += columnCount(of: character)
            return used <= width
        }
        return visible + "…"
    }

    /// Returns 2 for wide East Asian characters and pictograms, otherwise 1.
    private static func columnCount(of character: Character) -> Int {
        switch character.unicodeScalars.first?.value ?? 0 {
        case 0x1100...0x115f, 0x2e80...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60,
            0xffe0...0xffe6, 0x1f300...0x1faff, 0x20000...0x3fffd:
            2
        default: 1
        }
    }
}

/// The alignment of text in columns.
package enum Columns {
    /// Returns the text, left-aligned in a column.
    package static func left(_ text: String, width: Int) -> String { text + padding(for: text, width: width) }

    /// Returns the text, right-aligned in a column.
    package static func right(_ text: String, width: Int) -> String { padding(for: text, width: width) + text }

    private static func padding(for text: String, width: Int) -> String {
        String(repeating: " ", count: max(0, width - TerminalText.columnCount(of: text)))
    }
}
