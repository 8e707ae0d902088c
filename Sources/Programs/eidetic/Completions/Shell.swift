import EideticCLI

/// A shell that completes command lines with a script.
enum Shell: String, CaseIterable, Sendable {
    case bash
    case zsh
    case fish

    /// Returns the script that completes the command lines of a program.
    func script(for root: Command) -> String {
        switch self {
        case .bash: BashCompletion.script(for: root)
        case .zsh: ZshCompletion.script(for: root)
        case .fish: FishCompletion.script(for: root)
        }
    }
}

extension Command {
    /// This command and all commands below it, each with the words that lead to it from here.
    var allCommands: [(words: [String], command: Command)] {
        [([], self)]
            + subcommands.flatMap { command in command.allCommands.map { ([command.name] + $0.words, $0.command) } }
    }

    /// The subcommands, or the permitted words of the operand.
    var completionWords: [String] {
        if !subcommands.isEmpty { return subcommands.map(\.name) }
        if case .words(let words) = operands.completion { return words }
        return []
    }
}
