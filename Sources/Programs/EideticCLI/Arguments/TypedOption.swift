/// An option whose value is parsed into a type.
package struct TypedOption<Value>: Sendable {
    package let definition: Option
    /// Parses a value; returns `nil` for invalid text.
    package let parse: @Sendable (String) -> Value?

    package init(
        _ name: String,
        letter: Character? = nil,
        otherName: String? = nil,
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
        definition = Option(name: name, letter: letter, otherName: otherName, help: help, value: value)
    }
}

extension TypedOption where Value == String {
    /// Creates an option whose value is the name of a file or directory.
    package init(_ name: String, placeholder: String = "FILE", help: String, completion: Completion = .files) {
        let expectation = completion == .directories ? "a directory" : "a file"
        self.init(name, placeholder: placeholder, expecting: expectation, help: help, completion: completion) {
            $0.isEmpty ? nil : $0
        }
    }
}

extension TypedOption where Value == Int {
    /// Creates an option whose value is a number in a range.
    package init(
        _ name: String,
        letter: Character? = nil,
        otherName: String? = nil,
        placeholder: String = "N",
        in range: ClosedRange<Int>,
        expecting expectation: String? = nil,
        help: String
    ) {
        self.init(
            name,
            letter: letter,
            otherName: otherName,
            placeholder: placeholder,
            expecting: expectation ?? "a number from \(range.lowerBound) to \(range.upperBound)",
            help: help,
            parse: { text in Int(text).flatMap { range.contains($0) ? $0 : nil } }
        )
    }
}
