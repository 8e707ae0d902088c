import EideticCore

/// Runs the command that a command line names.
package enum CommandRunner {
    /// Runs a command line: the words after the names in `root`.
    package static func run(_ words: [String], root: Command) -> ExitStatus {
        Diagnostics.finish(with: perform(words, root: root))
    }

    /// Runs a command line without an end of the output.
    package static func perform(_ words: [String], root: Command) -> ExitStatus {
        switch CommandLineParser.parse(words, root: root) {
        case .run(let path, let arguments):
            return path.last?.run(arguments) ?? .usage
        case .help(let path):
            TextStream.output.writeLine(Help.text(for: path))
            return .success
        case .version:
            TextStream.output.writeLine("\(root.name) \(Version.current)")
            return .success
        case .failure(let path, let problems):
            return usageError(problems, path: path)
        }
    }

    /// Reports the problems of a command line and prints the usage.
    package static func usageError(_ problems: [String], path: [Command]) -> ExitStatus {
        let name = path.map(\.name).joined(separator: " ")
        for problem in problems { TextStream.errors.writeLine("\(name): \(TerminalText.sanitized(problem))") }
        TextStream.errors.writeLine(Help.usage(for: path))
        TextStream.errors.writeLine("Run \"\(name) --help\" for more information.")
        return .usage
    }
}
