/// What a command's description looks like to a person.
enum Help {
    /// `usage: eidetic inspect [--json] FILE…`, broken into lines of at most 100 columns.
    static func usage(_ path: [Command]) -> String {
        guard let command = path.last else { return "" }
        let name = path.map(\.name).joined(separator: " ")
        let parts =
            command.subcommands.isEmpty
            ? command.options.map { "[\($0.synopsis)]" } + [command.operands.synopsis].filter { !$0.isEmpty }
            : ["COMMAND …"]
        let start = "usage: \(name) "
        return fold(parts, first: start, next: String(repeating: " ", count: start.count))
    }

    /// All that there is to say about a command.
    static func text(_ path: [Command]) -> String {
        guard let command = path.last else { return "" }
        let name = path.map(\.name).joined(separator: " ")
        var sections = ["\(name): \(command.summary)", usage(path)]
        sections += command.notes.map { fold($0.split(separator: " ").map(String.init), first: "", next: "") }
        if !command.subcommands.isEmpty {
            sections.append("commands:\n" + table(command.subcommands.map { ($0.name, $0.summary) }))
        }
        if !command.operands.synopsis.isEmpty {
            sections.append("operands:\n" + table([(command.operands.synopsis, command.operands.help)]))
        }
        sections.append("options:\n" + table(options(of: command, isRoot: path.count == 1)))
        if !command.subcommands.isEmpty { sections.append("\"\(name) COMMAND --help\" tells more about each.") }
        return sections.joined(separator: "\n\n")
    }

    private static func options(of command: Command, isRoot: Bool) -> [(String, String)] {
        let version = isRoot ? [Option(name: "version", help: "show the version")] : []
        return (command.allOptions + version).map { option in
            ((option.letter.map { "-\($0), " } ?? "    ") + option.synopsis, option.help)
        }
    }

    /// Two columns; what is too long for the second one goes on below it.
    private static func table(_ rows: [(String, String)]) -> String {
        let width = min(28, rows.map(\.0.count).max() ?? 0)
        let indent = String(repeating: " ", count: width + 4)
        return rows.map { name, help in
            let words = help.split(separator: " ").map(String.init)
            guard name.count <= width else { return "  \(name)\n" + fold(words, first: indent, next: indent) }
            let padding = String(repeating: " ", count: width - name.count)
            return fold(words, first: "  \(name)\(padding)  ", next: indent)
        }.joined(separator: "\n")
    }

    private static func fold(_ words: [String], first: String, next: String, width: Int = 100) -> String {
        var lines = [first]
        var isEmpty = true
        for word in words {
            if !isEmpty, lines[lines.count - 1].count + word.count >= width {
                lines.append(next)
                isEmpty = true
            }
            lines[lines.count - 1] += isEmpty ? word : " " + word
            isEmpty = false
        }
        return lines.joined(separator: "\n")
    }
}
