/// The operands that a command accepts.
struct Operands: Sendable {
    /// The form in usage lines, such as `FILE…`.
    let synopsis: String
    /// The help text, in one line.
    let help: String
    /// The permitted number of operands.
    let count: ClosedRange<Int>
    /// The kind of words that a shell offers.
    let completion: Completion

    /// The description of a command without operands.
    static let none = Operands(synopsis: "", help: "", count: 0...0, completion: .nothing)
}

/// The kind of words that a shell offers as completions.
enum Completion: Sendable, Equatable {
    case nothing
    case files
    case directories
    case words([String])
}
