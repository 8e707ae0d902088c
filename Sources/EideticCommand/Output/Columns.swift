/// Text in columns.
enum Columns {
    /// At the left of a column.
    static func left(_ text: String, width: Int) -> String { text + padding(for: text, width: width) }

    /// At the right of a column.
    static func right(_ text: String, width: Int) -> String { padding(for: text, width: width) + text }

    private static func padding(for text: String, width: Int) -> String {
        String(repeating: " ", count: max(0, width - TerminalText.columnCount(of: text)))
    }
}
