/// Runs the command that a command line names.
package enum CommandRunner {
    /// Runs a command line: the words after the names in `root`.
    package static func run(_ words: [String], root: Command) -> ExitStatus {
        Diagnostics.finish(with: perform(words, root: root))
    }

    /// Runs a command line without an end of the output; a help text is that of one screen unless `isFull` is `true`.
    package static func perform(_ words: [String], root: Command, isFull: Bool = false) -> ExitStatus {
        switch CommandLineParser.parse(words, root: root) {
        case .run(let path, let arguments):
            return path.last?.run(arguments) ?? .usage
        case .help(let path):
            // The program of `eidetic app` has a part of a command whose other words are those of `eidetic help`.
            let hasHelp = root.name.contains(" ") || root.subcommands.contains { $0.name == "help" }
            TextStream.output.writeLine(isFull || !hasHelp ? Help.text(for: path) : Help.summary(for: path))
            return .success
        case .version:
            TextStream.output.writeLine(VersionText.text(for: root))
            return .success
        case .manualPage:
            TextStream.output.writeLine(ManualPage.text(for: root))
            return .success
        case .failure(let path, let problems):
            return usageError(problems, path: path)
        }
    }

    /// Reports the problems of a command line, and where its rules are.
    package static func usageError(_ problems: [String], path: [Command]) -> ExitStatus {
        let name = path.map(\.name).joined(separator: " ")
        for problem in problems { TextStream.errors.writeLine("\(name): \(TerminalText.sanitized(problem))") }
        TextStream.errors.writeLine("see \(name) --help")
        return .usage
    }
}
