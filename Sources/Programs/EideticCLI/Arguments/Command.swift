/// A command with its operands, options and implementation.
///
/// Parsing, help, messages and shell completions are all derived from this description.
package struct Command: Sendable {
    /// The name on the command line.
    package let name: String
    /// The purpose, in one line without a full stop.
    package let summary: String
    /// The operands.
    package let operands: Operands
    /// The options, except `--help`, which every command has.
    package let options: [Option]
    /// Additional paragraphs of the help text.
    package let notes: [String]
    /// The names of the options that `--help` shows; `nil` for all.
    package let commonOptions: [String]?
    /// The subcommands; a command that has any cannot be run itself.
    package let subcommands: [Command]
    /// The implementation.
    package let run: @Sendable (Arguments) -> ExitStatus

    package init(
        name: String,
        summary: String,
        operands: Operands = .none,
        options: [Option] = [],
        notes: [String] = [],
        commonOptions: [String]? = nil,
        subcommands: [Command] = [],
        run: @escaping @Sendable (Arguments) -> ExitStatus = { _ in .usage }
    ) {
        (self.name, self.summary, self.operands) = (name, summary, operands)
        (self.options, self.notes, self.subcommands) = (options, notes, subcommands)
        (self.commonOptions, self.run) = (commonOptions, run)
    }

    /// The options, including `--help`.
    package var allOptions: [Option] { options + [.help] }
}
