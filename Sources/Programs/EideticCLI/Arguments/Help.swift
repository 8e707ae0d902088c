/// Usage lines and help texts of commands.
package enum Help {
    /// Returns the usage, such as `usage: eidetic inspect [--json] FILE…`, in lines of at most 100 columns.
    package static func usage(for path: [Command]) -> String {
        guard let command = path.last else { return "" }
        let name = path.map(\.name).joined(separator: " ")
        let parts =
            command.subcommands.isEmpty
            ? command.options.map { "[\($0.synopsis)]" } + [command.operands.synopsis].filter { !$0.isEmpty }
            : ["COMMAND …"]
        let start = "usage: \(name) "
        return wrap(parts, firstLinePrefix: start, linePrefix: String(repeating: " ", count: start.count))
    }

    /// Returns the help text of a command.
    package static func text(for path: [Command]) -> String {
        guard let command = path.last else { return "" }
        let name = path.map(\.name).joined(separator: " ")
        var sections = ["\(name): \(command.summary)", usage(for: path)]
        sections += command.notes.map {
            wrap($0.split(separator: " ").map(String.init), firstLinePrefix: "", linePrefix: "")
        }
        if !command.subcommands.isEmpty {
            sections.append("commands:\n" + table(of: command.subcommands.map { ($0.name, $0.summary) }))
        }
        if !command.operands.synopsis.isEmpty {
            sections.append("operands:\n" + table(of: [(command.operands.synopsis, command.operands.help)]))
        }
        sections.append("options:\n" + table(of: options(of: command, isRoot: path.count == 1)))
        if !command.subcommands.isEmpty { sections.append("Run \"\(name) COMMAND --help\" for the help of a command.") }
        return sections.joined(separator: "\n\n")
    }

    private static func options(of command: Command, isRoot: Bool) -> [(String, String)] {
        let version = isRoot ? [Option(name: "version", help: "show the version")] : []
        return (command.allOptions + version).map { option in
            ((option.letter.map { "-\($0), " } ?? "    ") + option.synopsis, option.help)
        }
    }

    /// Formats rows in two columns; long texts are wrapped within the second column.
    private static func table(of rows: [(String, String)]) -> String {
        let width = min(28, rows.map(\.0.count).max() ?? 0)
        let indent = String(repeating: " ", count: width + 4)
        return rows.map { name, help in
            let words = help.split(separator: " ").map(String.init)
            guard name.count <= width else {
                return "  \(name)\n" + wrap(words, firstLinePrefix: indent, linePrefix: indent)
            }
            let padding = String(repeating: " ", count: width - name.count)
            return wrap(words, firstLinePrefix: "  \(name)\(padding)  ", linePrefix: indent)
        }.joined(separator: "\n")
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
