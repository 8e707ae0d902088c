/// A command line that was understood: every value in it has been checked against its description.
struct Arguments: Sendable {
    /// What is no option, in order.
    var operands: [String] = []
    /// The names of the options that were given, with their values; the last one counts.
    var values: [String: String?] = [:]
    /// The values of options that may be given several times, in their order.
    var repeatedValues: [String: [String]] = [:]

    /// Whether an option was given, with or without a value.
    func contains(_ option: Option) -> Bool { values[option.name] != nil }

    /// The value of an option; `nil` where it was not given, or stands alone.
    subscript<Value>(_ setting: TypedOption<Value>) -> Value? {
        guard let text = values[setting.option.name] ?? nil else { return nil }
        return setting.parse(text)
    }

    /// All values of an option that may be given several times.
    func values<Value>(of setting: TypedOption<Value>) -> [Value] {
        (repeatedValues[setting.option.name] ?? []).compactMap { setting.parse($0) }
    }
}
