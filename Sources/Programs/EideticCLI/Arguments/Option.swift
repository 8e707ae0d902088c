/// The description of an option such as `--json`, `--size WxH` or `--show[=HOW]`.
package struct Option: Sendable {
    /// The description of an option's value.
    package struct Value: Sendable {
        /// The form in help texts, such as `WxH`.
        package let placeholder: String
        /// The description of valid values in messages, such as "a size such as 640x480".
        package let expectation: String
        /// A Boolean value indicating whether the value can be omitted.
        ///
        /// If so, a value has the form `--name=value` only.
        package var isOptional = false
        /// The kind of words that a shell offers.
        package var completion = Completion.nothing
        /// Returns a Boolean value indicating whether a text is a valid value.
        package let accepts: @Sendable (String) -> Bool
    }

    /// The name without its dashes.
    package let name: String
    /// The letter of the short form, if there is one.
    package let letter: Character?
    /// Another name, which the help does not show.
    package let otherName: String?
    /// The help text, in one line.
    package let help: String
    /// The value; `nil` for an option without value.
    package let value: Value?

    package init(
        name: String,
        letter: Character? = nil,
        otherName: String? = nil,
        help: String,
        value: Value? = nil
    ) {
        self.name = name
        self.letter = letter
        self.otherName = otherName
        self.help = help
        self.value = value
    }

    /// The option `--help`, which every command has.
    package static let help = Option(name: "help", letter: "h", help: "show this help")

    /// The form in usage lines, such as `--size WxH`.
    package var synopsis: String {
        guard let value else { return "--\(name)" }
        return value.isOptional ? "--\(name)[=\(value.placeholder)]" : "--\(name) \(value.placeholder)"
    }
}
