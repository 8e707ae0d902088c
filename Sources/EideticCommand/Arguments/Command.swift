/// What a command is called, takes and does.
///
/// The one description from which parsing, help, messages and shell completions all follow.
struct Command: Sendable {
    /// What stands on the command line for it.
    let name: String
    /// What it does, in one line without a full stop.
    let summary: String
    /// What it takes besides options.
    var operands = Operands.none
    /// What may be set, without `--help`, which every command has.
    var options: [Option] = []
    /// What else help says; each element is a paragraph.
    var notes: [String] = []
    /// The commands below it; then it does nothing itself.
    var subcommands: [Command] = []
    /// Does the work.
    var run: @Sendable (Arguments) -> ExitStatus = { _ in .usage }

    /// All options, with the ones that every command has.
    var allOptions: [Option] { options + [.help] }
}

/// What a command takes besides options.
struct Operands: Sendable {
    /// As usage lines show them: `FILE…`.
    let synopsis: String
    /// One line for help.
    let help: String
    /// How many there may be.
    let count: ClosedRange<Int>
    /// What a shell offers for them.
    let completion: Completion

    /// No operands.
    static let none = Operands(synopsis: "", help: "", count: 0...0, completion: .nothing)
}

/// What a shell offers for a word.
enum Completion: Sendable, Equatable {
    case nothing
    case files
    case directories
    case words([String])
}

/// How a program ends.
enum ExitStatus: Int32, Sendable {
    /// All was done.
    case success = 0
    /// Some was not; messages say what.
    case failure = 1
    /// The command line was not understood, and nothing was done.
    case usage = 2
    /// Stopped by Ctrl-C.
    case interrupted = 130
    /// Stopped by a request to terminate.
    case terminated = 143
}
