/// A command with its operands, options and implementation.
///
/// Parsing, help, messages, manual pages and shell completions are all derived from this description.
package struct Command: Sendable {
    package let name: String
    /// The purpose, in one line without a full stop.
    package let summary: String
    package let operands: Operands
    /// The options, except `--help`, which every command has.
    package let options: [Option]
    /// Additional paragraphs of the help text.
    package let notes: [String]
    /// The names of the options that `--help` shows; `nil` for all.
    package let commonOptions: [String]?
    /// The subcommands; a command that has any cannot be run itself.
    package let subcommands: [Command]
    /// The section of the manual with the page of the program: 1 for commands, 8 for daemons.
    package let manualSection: Int
    /// The further lines of the program's `--version`.
    package let versionDetails: @Sendable () -> [(name: String, value: String)]
    package let run: @Sendable (Arguments) -> ExitStatus

    package init(
        name: String,
        summary: String,
        operands: Operands = .none,
        options: [Option] = [],
        notes: [String] = [],
        commonOptions: [String]? = nil,
        subcommands: [Command] = [],
        manualSection: Int = 1,
        versionDetails: @escaping @Sendable () -> [(name: String, value: String)] = { [] },
        run: @escaping @Sendable (Arguments) -> ExitStatus = { _ in .usage }
    ) {
        self.name = name
        self.summary = summary
        self.operands = operands
        self.options = options
        self.notes = notes
        self.subcommands = subcommands
        self.commonOptions = commonOptions
        self.run = run
        self.manualSection = manualSection
        self.versionDetails = versionDetails
    }

    /// The options, including `--help`.
    package var allOptions: [Option] { options + [.help] }
}
