import EideticCore

/// The manual page of a program, in the language of `man`(7).
///
/// It is made of the same description as the help texts, so that the two cannot differ.
package enum ManualPage {
    /// The pages of all programs, which refer to each other.
    private static let pages = ["eidetic(1)", "eidetic-app(1)", "eideticd(8)", "eidetic-transferd(8)"]

    package static func text(for root: Command) -> String {
        let name = root.name.replacing(" ", with: "-")
        let page = "\(name)(\(root.manualSection))"
        let title = "\(name.uppercased()) \(root.manualSection) \"\" \"eidetic \(Version.current)\" \"Eidetic\""
        var lines = [".TH \(title)", ".nh", ".ad l"]
        lines += [".SH NAME", "\(escaped(name)) \\- \(escaped(root.summary))", ".SH SYNOPSIS"]
        lines.append(runnableCommands(below: [root]).map(synopsis).joined(separator: "\n.br\n"))
        lines += [".SH DESCRIPTION"] + paragraphs(root.notes.isEmpty ? [sentence(root.summary)] : root.notes)
        if !root.subcommands.isEmpty {
            lines += [".SH COMMANDS"] + table(of: root.subcommands.map { ($0.name, $0.summary) })
            for path in allCommands(below: [root]).dropFirst() { lines += section(for: path) }
        }
        lines.append(".SH OPTIONS")
        lines += table(of: Help.options(of: root, isRoot: true)) + examples(of: [root], heading: ".SH EXAMPLES")
        if !root.subcommands.isEmpty { lines += [".SH EXIT STATUS"] + table(of: ExitStatus.table) }
        lines += [".SH SEE ALSO", pages.filter { $0 != page }.map(reference).joined(separator: ",\n")]
        return lines.joined(separator: "\n")
    }

    /// The section of a command below the program: the whole of its help.
    private static func section(for path: [Command]) -> [String] {
        guard let command = path.last else { return [] }
        var lines = [".SS \(escaped(fullName(of: path)))", escaped(sentence(command.summary))]
        if command.subcommands.isEmpty { lines += [".PP", synopsis(of: path)] }
        if !command.notes.isEmpty { lines += [".PP"] + paragraphs(command.notes) }
        lines += table(of: command.subcommands.map { ($0.name, $0.summary) })
        let operands = command.operands
        if !operands.synopsis.isEmpty { lines += table(of: [(operands.synopsis, operands.help)]) }
        lines += table(of: Help.options(of: command, isRoot: false))
        return lines + examples(of: path, heading: ".PP\nExamples:")
    }

    private static func allCommands(below path: [Command]) -> [[Command]] {
        [path] + (path.last?.subcommands ?? []).flatMap { allCommands(below: path + [$0]) }
    }

    private static func runnableCommands(below path: [Command]) -> [[Command]] {
        allCommands(below: path).filter { $0.last?.subcommands.isEmpty ?? false }
    }

    private static func fullName(of path: [Command]) -> String { path.map(\.name).joined(separator: " ") }

    private static func synopsis(of path: [Command]) -> String {
        let operands = path.last?.operands.synopsis ?? ""
        return "\\fB\(escaped(fullName(of: path)))\\fR [\\fIOPTION\\fR…] \(escaped(operands))"
    }

    /// Paragraphs after a heading, which begins the first one itself.
    private static func paragraphs(_ texts: [String]) -> [String] {
        texts.isEmpty ? [] : [texts.map(escaped).joined(separator: "\n.PP\n")]
    }

    private static func sentence(_ summary: String) -> String {
        summary.prefix(1).uppercased() + summary.dropFirst() + "."
    }

    private static func table(of rows: [(String, String)]) -> [String] {
        rows.flatMap { name, help in
            [".TP", "\\fB\(escaped(String(name.drop { $0 == " " })))\\fR", escaped(help)]
        }
    }

    private static func examples(of path: [Command], heading: String) -> [String] {
        guard let examples = Help.examples[fullName(of: path)] else { return [] }
        return [heading, ".RS 4", ".nf"] + examples.map(escaped) + [".fi", ".RE"]
    }

    private static func reference(to page: String) -> String {
        let parts = page.split(separator: "(", maxSplits: 1)
        return "\\fB\(escaped(String(parts[0])))\\fR(\(parts[1])"
    }

    /// Returns a text in which no character is a command of the language.
    private static func escaped(_ text: String) -> String {
        let characters: [Character: String] = [
            "\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti",
        ]
        let escaped = text.map { characters[$0] ?? String($0) }.joined()
        return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
    }
}
