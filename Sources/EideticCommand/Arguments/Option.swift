/// An option as a command describes it: `--json`, `--size WxH`, `--show[=HOW]`.
struct Option: Sendable {
    /// The value that an option takes.
    struct Value: Sendable {
        /// As help shows it: `WxH`.
        let placeholder: String
        /// What it must be, for messages: "a size such as 640x480".
        let expectation: String
        /// Whether the option may stand alone; a value is then given as `--name=value` only.
        var isOptional = false
        /// What a shell offers.
        var completion = Completion.nothing
        /// Whether a text is such a value.
        let accepts: @Sendable (String) -> Bool
    }

    /// The name without its dashes.
    let name: String
    /// The one-letter form.
    var letter: Character?
    /// What it does, in one line.
    let help: String
    /// What it takes; `nil` for a switch.
    var value: Value?

    /// What every command has.
    static let help = Option(name: "help", letter: "h", help: "show this help")

    /// `--size WxH`, as usage lines show it.
    var synopsis: String {
        guard let value else { return "--\(name)" }
        return value.isOptional ? "--\(name)[=\(value.placeholder)]" : "--\(name) \(value.placeholder)"
    }
}

/// An option together with the type of its value.
struct TypedOption<Value>: Sendable {
    let option: Option
    let parse: @Sendable (String) -> Value?

    init(
        _ name: String,
        letter: Character? = nil,
        placeholder: String,
        expecting expectation: String,
        help: String,
        completion: Completion = .nothing,
        isOptional: Bool = false,
        parse: @escaping @Sendable (String) -> Value?
    ) {
        self.parse = parse
        let value = Option.Value(
            placeholder: placeholder,
            expectation: expectation,
            isOptional: isOptional,
            completion: completion,
            accepts: { parse($0) != nil }
        )
        option = Option(name: name, letter: letter, help: help, value: value)
    }
}

extension TypedOption where Value == String {
    /// An option whose value is any text that is not empty.
    init(_ name: String, placeholder: String, help: String, completion: Completion) {
        let expectation = completion == .directories ? "a directory" : "a file"
        self.init(name, placeholder, expecting: expectation, help: help, completion: completion) {
            $0.isEmpty ? nil : $0
        }
    }
}
