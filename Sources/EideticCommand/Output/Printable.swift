/// Text from files and servers, made safe to show on a terminal.
enum TerminalText {
    /// The text with every control character replaced by `?`, so that nobody's name can steer the terminal.
    static func sanitized(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? "?" : $0 }))
    }

    /// C0, DEL, C1, and the marks that change the direction of writing.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0, 0x202a...0x202e, 0x2066...0x2069: true
        default: false
        }
    }

    /// How many columns of a terminal the text takes.
    static func columnCount(of text: String) -> Int { text.reduce(0) { $0 + columnCount(of: $1) } }

    /// The text, cut so that it takes at most `width` columns; a cut is shown as `…`.
    static func truncated(_ text: String, width: Int) -> String {
        guard columnCount(of: text) > width else { return text }
        guard width > 0 else { return "" }
        var used = 1
        let visible = text.prefix { character in
            used += columnCount(of: character)
            return used <= width
        }
        return visible + "…"
    }

    /// Two for the wide characters of East Asia and pictograms, else one.
    private static func columnCount(of character: Character) -> Int {
        switch character.unicodeScalars.first?.value ?? 0 {
        case 0x1100...0x115f, 0x2e80...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60,
            0xffe0...0xffe6, 0x1f300...0x1faff, 0x20000...0x3fffd:
            2
        default: 1
        }
    }
}
