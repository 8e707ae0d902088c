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
