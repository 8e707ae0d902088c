/// A command with its operands, options and implementation.
///
/// Parsing, help, messages and shell completions are all derived from this description.
struct Command: Sendable {
    /// The name on the command line.
    let name: String
    /// The purpose, in one line without a full stop.
    let summary: String
    /// The operands.
    var operands = Operands.none
    /// The options, except `--help`, which every command has.
    var options: [Option] = []
    /// Additional paragraphs of the help text.
    var notes: [String] = []
    /// The subcommands; a command that has any cannot be run itself.
    var subcommands: [Command] = []
    /// The implementation.
    var run: @Sendable (Arguments) -> ExitStatus = { _ in .usage }

    /// The options, including `--help`.
    var allOptions: [Option] { options + [.help] }
}
