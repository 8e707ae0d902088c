/// Text in columns.
enum Columns {
    /// At the left of a column.
    static func left(_ text: String, _ width: Int) -> String { text + space(text, width) }

    /// At the right of a column.
    static func right(_ text: String, _ width: Int) -> String { space(text, width) + text }

    private static func space(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - Printable.columns(text)))
    }
}
