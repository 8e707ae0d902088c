/// The operands that a command accepts.
package struct Operands: Sendable {
    /// The form in usage lines, such as `FILE…`.
    package let synopsis: String
    /// The help text, in one line.
    package let help: String
    package let count: ClosedRange<Int>
    /// The kind of words that a shell offers.
    package let completion: Completion

    /// Creates the operands of a command, at least one by default.
    package init(
        synopsis: String,
        help: String,
        count: ClosedRange<Int> = 1...Int.max,
        completion: Completion = .nothing
    ) {
        self.synopsis = synopsis
        self.help = help
        self.count = count
        self.completion = completion
    }

    /// The description of a command without operands.
    package static let none = Operands(synopsis: "", help: "", count: 0...0, completion: .nothing)
}

/// The kind of words that a shell offers as completions.
package enum Completion: Sendable, Equatable {
    case nothing
    case files
    case directories
    case words([String])
}
