/// A shell that can complete command lines by a script.
enum Shell: String, CaseIterable, Sendable {
    case bash
    case zsh
    case fish

    /// The script that completes the command lines of a program.
    func script(for root: Command) -> String {
        switch self {
        case .bash: BashCompletion.script(for: root)
        case .zsh: ZshCompletion.script(for: root)
        case .fish: FishCompletion.script(for: root)
        }
    }
}

extension Command {
    /// This command and all below it, each with the words that lead to it from here.
    var allCommands: [(words: [String], command: Command)] {
        [([], self)]
            + subcommands.flatMap { command in command.allCommands.map { ([command.name] + $0.words, $0.command) } }
    }

    /// What a shell offers first: commands below, or the words that the operand may be.
    var completionWords: [String] {
        if !subcommands.isEmpty { return subcommands.map(\.name) }
        if case .words(let words) = operands.completion { return words }
        return []
    }
}
