/// Usage lines and help texts of commands.
package enum Help {
    /// Returns the short help of a command, for one screen: its usual options, each in one line.
    package static func summary(for path: [Command]) -> String {
        guard let command = path.last else { return "" }
        let name = path.map(\.name).joined(separator: " ")
        var sections = ["\(name): \(command.summary)", usage(for: path)]
        sections += tables(of: path)
        let rows = options(of: command, isRoot: path.count == 1) { command.commonOptions?.contains($0.name) ?? true }
        sections.append("options:\n" + table(of: rows, isShort: true))
        sections += examples(of: path)
        if path.count == 1 { sections.append("exit status:\n" + table(of: ExitStatus.table)) }
        let omitted = command.allOptions.count - rows.count
        let more = omitted > 0 ? "\(omitted) more options" : command.notes.isEmpty ? nil : "details"
        if !command.subcommands.isEmpty {
            sections.append("Run \"\(name) COMMAND --help\" for the help of a command.")
        } else if let more, path.count > 1 {
            let words = ([path[0].name, "help"] + path.dropFirst().map(\.name)).joined(separator: " ")
            sections.append("Run \"\(words)\" for \(more).")
        }
        return sections.joined(separator: "\n\n")
    }

    /// Returns the whole help of a command.
    package static func text(for path: [Command]) -> String {
        guard let command = path.last else { return "" }
        let name = path.map(\.name).joined(separator: " ")
        var sections = ["\(name): \(command.summary)", usage(for: path)]
        sections += command.notes.map {
            wrap($0.split(separator: " ").map(String.init), firstLinePrefix: "", linePrefix: "")
        }
        sections += tables(of: path)
        sections.append("options:\n" + table(of: options(of: command, isRoot: path.count == 1)))
        return (sections + examples(of: path)).joined(separator: "\n\n")
    }

    private static func usage(for path: [Command]) -> String {
        guard let command = path.last else { return "" }
        let name = path.map(\.name).joined(separator: " ")
        guard command.subcommands.isEmpty else { return "usage: \(name) COMMAND …" }
        return "usage: \(name) [OPTION…] \(command.operands.synopsis)".trimmingSpaces
    }

    /// The subcommands and the operands.
    private static func tables(of path: [Command]) -> [String] {
        guard let command = path.last else { return [] }
        var sections: [String] = []
        if !command.subcommands.isEmpty {
            sections.append("commands:\n" + table(of: command.subcommands.map { ($0.name, $0.summary) }))
        }
        if !command.operands.synopsis.isEmpty {
            sections.append("operands:\n" + table(of: [(command.operands.synopsis, command.operands.help)]))
        }
        return sections
    }

    private static func examples(of path: [Command]) -> [String] {
        guard let examples = examples[path.map(\.name).joined(separator: " ")] else { return [] }
        return ["examples:\n" + examples.map { "  \($0)" }.joined(separator: "\n")]
    }

    /// The options of a command, each with its help.
    static func options(
        of command: Command,
        isRoot: Bool,
        where isIncluded: (Option) -> Bool = { _ in true }
    ) -> [(String, String)] {
        let version = Option(name: "version", help: "show the version, the commit, and what the program is built with")
        return (command.allOptions.filter(isIncluded) + (isRoot ? [version] : [])).map { option in
            ((option.letter.map { "-\($0), " } ?? "    ") + option.synopsis, option.help)
        }
    }

    /// Formats rows in two columns; long texts are wrapped within the second column, or end after their first part.
    private static func table(of rows: [(String, String)], isShort: Bool = false) -> String {
        let width = min(28, rows.map(\.0.count).max() ?? 0)
        let indent = String(repeating: " ", count: width + 4)
        return rows.map { name, help in
            let help = isShort ? firstPart(of: help, width: 96 - width) : help
            let words = help.split(separator: " ").map(String.init)
            guard name.count <= width else {
                return "  \(name)\n" + wrap(words, firstLinePrefix: indent, linePrefix: indent)
            }
            let padding = String(repeating: " ", count: width - name.count)
            return wrap(words, firstLinePrefix: "  \(name)\(padding)  ", linePrefix: indent)
        }.joined(separator: "\n")
    }

    /// Returns the part of a text that fits into one line: without what is in parentheses or behind a semicolon.
    private static func firstPart(of text: String, width: Int) -> String {
        var text = text
        for mark in [" (", "; "] where text.count > width {
            text = text.firstRange(of: mark).map { String(text[..<$0.lowerBound]) } ?? text
        }
        guard text.count > width else { return text }
        let start = text.prefix(width - 2)
        return "\(start[..<(start.lastIndex(of: " ") ?? start.endIndex)]) …"
    }

    private static func wrap(_ words: [String], firstLinePrefix: String, linePrefix: String, width: Int = 100) -> String
    {
        var lines = [firstLinePrefix]
        var isEmpty = true
        for word in words {
            if !isEmpty, lines[lines.count - 1].count + word.count >= width {
                lines.append(linePrefix)
                isEmpty = true
            }
            lines[lines.count - 1] += isEmpty ? word : " " + word
            isEmpty = false
        }
        return lines.joined(separator: "\n")
    }
}

extension String {
    /// The text without spaces at its end.
    fileprivate var trimmingSpaces: String { String(reversed().drop { $0 == " " }.reversed()) }
}
