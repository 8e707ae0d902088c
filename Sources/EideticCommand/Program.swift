import EideticCore

/// The `eidetic` program: its commands, and what happens to a command line.
enum Program {
    /// All commands.
    static let root: Command = .init(
        name: "eidetic",
        summary: "a photographic memory for pictures",
        notes: ["Loads pictures by URL and remembers them; looks into pictures, converts them, and tends the cache."],
        subcommands: [
            LoadCommand.command, PrefetchCommand.command, InspectCommand.command, ConvertCommand.command,
            CacheCommands.command, completions, help,
        ]
    )

    /// Does what the words after the program's name ask for.
    static func run(_ words: [String]) -> ExitStatus {
        Diagnostics.finish(with: perform(CommandLineParser.parse(words, root: root)))
    }

    private static func perform(_ outcome: CommandLineParser.Outcome) -> ExitStatus {
        switch outcome {
        case .run(let path, let arguments):
            return path.last?.run(arguments) ?? .usage
        case .help(let path):
            TextStream.output.writeLine(Help.text(for: path))
            return .success
        case .version:
            TextStream.output.writeLine("eidetic \(Version.current)")
            return .success
        case .failure(let path, let problems):
            return usageError(problems, path: path)
        }
    }

    /// Says what is wrong with a command line, and what would be right.
    static func usageError(_ problems: [String], path: [Command]) -> ExitStatus {
        let name = path.map(\.name).joined(separator: " ")
        for problem in problems { TextStream.errors.writeLine("\(name): \(TerminalText.sanitized(problem))") }
        TextStream.errors.writeLine(Help.usage(for: path))
        TextStream.errors.writeLine("\"\(name) --help\" tells more.")
        return .usage
    }

    private static let help: Command = .init(
        name: "help",
        summary: "explain a command",
        operands: Operands(
            synopsis: "[COMMAND…]",
            help: "the command, such as \"cache list\"",
            count: 0...2,
            completion: .nothing
        ),
        run: { arguments in
            // `eidetic help cache list` and `eidetic cache list --help` are one and the same.
            perform(CommandLineParser.parse(arguments.operands + ["--help"], root: root))
        }
    )

    private static let completions: Command = .init(
        name: "completions",
        summary: "print a script with which a shell completes eidetic's command lines",
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
                let problem = "there is no script for \"\(arguments.operands[0])\", only for bash, zsh and fish"
                return usageError([problem], path: [root, completions])
            }
            TextStream.output.writeLine(shell.script(for: root))
            return .success
        }
    )
}
