/// The operands and option values of a valid command line.
package struct Arguments: Sendable {
    /// The words that are not options, in their order.
    package var operands: [String] = []
    /// The given options with their values; if an option is repeated, its last value.
    package var values: [String: String?] = [:]
    /// All values of each option, in their order.
    package var repeatedValues: [String: [String]] = [:]

    /// A Boolean value indicating whether an option was given, with or without a value.
    package func contains(_ option: Option) -> Bool { values[option.name] != nil }

    /// The value of an option; `nil` if it was not given, or was given without a value.
    package subscript<Value>(_ option: TypedOption<Value>) -> Value? {
        guard let text = values[option.definition.name] ?? nil else { return nil }
        return option.parse(text)
    }

    /// Returns all values of an option that can be repeated.
    package func values<Value>(of option: TypedOption<Value>) -> [Value] {
        (repeatedValues[option.definition.name] ?? []).compactMap(option.parse)
    }
}
