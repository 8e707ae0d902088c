import EideticCLI

/// The `eidetic` program.
enum Program {
    static let root: Command = .init(
        name: "eidetic",
        summary: "load, cache, inspect and convert images",
        notes: [
            "Loads images by URL and caches them, inspects and converts image files, manages the cache and background "
                + "transfers, and controls supervised applications."
        ],
        subcommands: [
            LoadCommand.command, PrefetchCommand.command, InspectCommand.command, ConvertCommand.command,
            CacheCommands.command, TransferCommands.command, AppCommands.command, completions, help,
        ],
        versionDetails: { BuildDescription.details }
    )

    /// Runs the program with the words after its name.
    static func run(_ words: [String]) -> ExitStatus {
        CommandRunner.run(words, root: root)
    }

    private static let help: Command = .init(
        name: "help",
        summary: "show all options and rules of a command",
        operands: Operands(
            synopsis: "[COMMAND…]",
            help: "the command, such as \"cache list\"",
            count: 0...2
        ),
        run: { arguments in
            CommandRunner.perform(arguments.operands + ["--help"], root: root, isFull: true)
        }
    )

    private static let completions: Command = .init(
        name: "completions",
        summary: "print the completion script for a shell",
        operands: Operands(
            synopsis: "bash|zsh|fish",
            help: "the shell",
            count: 1...1,
            completion: .words(Shell.allCases.map(\.rawValue))
        ),
        notes: [
            "bash: eidetic completions bash > ~/.local/share/bash-completion/completions/eidetic",
            "zsh: eidetic completions zsh > a file _eidetic in a directory of $fpath",
            "fish: eidetic completions fish > ~/.config/fish/completions/eidetic.fish",
        ],
        run: { arguments in
            guard let shell = Shell(rawValue: arguments.operands[0]) else {
                let problem = "unknown shell \"\(arguments.operands[0])\"; supported shells: bash, zsh, fish"
                return CommandRunner.usageError([problem], path: [root, completions])
            }
            TextStream.output.writeLine(shell.script(for: root))
            return .success
        }
    )
}
