/// The description of an option such as `--json`, `--size WxH` or `--show[=HOW]`.
struct Option: Sendable {
    /// The description of an option's value.
    struct Value: Sendable {
        /// The form in help texts, such as `WxH`.
        let placeholder: String
        /// The description of valid values in messages, such as "a size such as 640x480".
        let expectation: String
        /// A Boolean value indicating whether the value can be omitted.
        ///
        /// If so, a value has the form `--name=value` only.
        var isOptional = false
        /// The kind of words that a shell offers.
        var completion = Completion.nothing
        /// Returns a Boolean value indicating whether a text is a valid value.
        let accepts: @Sendable (String) -> Bool
    }

    /// The name without its dashes.
    let name: String
    /// The letter of the short form, if there is one.
    var letter: Character?
    /// The help text, in one line.
    let help: String
    /// The value; `nil` for an option without value.
    var value: Value?

    /// The option `--help`, which every command has.
    static let help = Option(name: "help", letter: "h", help: "show this help")

    /// The form in usage lines, such as `--size WxH`.
    var synopsis: String {
        guard let value else { return "--\(name)" }
        return value.isOptional ? "--\(name)[=\(value.placeholder)]" : "--\(name) \(value.placeholder)"
    }
}
