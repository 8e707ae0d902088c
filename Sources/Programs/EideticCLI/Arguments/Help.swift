/// Usage lines and help texts of commands.
package enum Help {
    /// The columns of the smallest usual terminal.
    private static let shortWidth = 80

    /// Returns the short help of a command, for a terminal of 24 lines of 80 columns: its usual options, each in one
    /// line.
    package static func summary(for path: [Command]) -> String {
        guard let command = path.last else { return "" }
        let isRoot = path.count == 1
        let name = path.map(\.name).joined(separator: " ")
        let head = ["\(name): \(command.summary)", usage(for: path), command.operands.help].filter { !$0.isEmpty }
        var sections = [head.map { lines(of: $0, width: shortWidth) }.joined(separator: "\n")]
        if !command.subcommands.isEmpty { sections.append(commands(of: command, isShort: true)) }
        let rows = options(of: command, isRoot: isRoot) { command.commonOptions?.contains($0.name) ?? !isRoot }
        sections.append("options:\n" + table(of: rows, isShort: true))
        sections += examples(of: path)
        return ([sections.joined(separator: "\n\n")] + furtherHelp(for: path, shownOptions: rows.count))
            .joined(separator: "\n")
    }

    /// The line that names the command for the rest; none if everything is shown.
    private static func furtherHelp(for path: [Command], shownOptions: Int) -> [String] {
        guard let command = path.last else { return [] }
        let names = path.map(\.name)
        if !command.subcommands.isEmpty {
            let statuses = ExitStatus.table.map { "\($0) \($1)" }.joined(separator: "; ")
            let line = "Run \"\(names.joined(separator: " ")) COMMAND --help\" for the help of a command."
            return names == ["eidetic"] ? [lines(of: "exit status: \(statuses)", width: shortWidth), line] : [line]
        }
        let omitted = command.allOptions.count - shownOptions
        if omitted == 0, command.notes.isEmpty { return [] }
        var words = names.flatMap { $0.split(separator: " ") }
        words.insert("help", at: 1)
        let line = words.joined(separator: " ")
        return ["Run \"\(line)\" for \(omitted > 0 ? "\(omitted) more options" : "details")."]
    }

    /// Returns the whole help of a command.
    package static func text(for path: [Command]) -> String {
        guard let command = path.last else { return "" }
        let name = path.map(\.name).joined(separator: " ")
        var sections = ["\(name): \(command.summary)", usage(for: path)]
        sections += command.notes.map { lines(of: $0) }
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

    private static func tables(of path: [Command]) -> [String] {
        guard let command = path.last else { return [] }
        var sections: [String] = []
        if !command.subcommands.isEmpty { sections.append(commands(of: command)) }
        if !command.operands.synopsis.isEmpty {
            sections.append("operands:\n" + table(of: [(command.operands.synopsis, command.operands.help)]))
        }
        return sections
    }

    private static func commands(of command: Command, isShort: Bool = false) -> String {
        "commands:\n" + table(of: command.subcommands.map { ($0.name, $0.summary) }, isShort: isShort)
    }

    private static func examples(of path: [Command]) -> [String] {
        guard let examples = examples[path.map(\.name).joined(separator: " ")] else { return [] }
        return ["examples:\n" + examples.map { "  \($0)" }.joined(separator: "\n")]
    }

    static func options(
        of command: Command,
        isRoot: Bool,
        where isIncluded: (Option) -> Bool = { _ in true }
    ) -> [(String, String)] {
        let version = Option(name: "version", help: "show version, commit, traits and libraries")
        return (command.allOptions.filter(isIncluded) + (isRoot ? [version] : [])).map { option in
            ((option.letter.map { "-\($0), " } ?? "    ") + option.synopsis, option.help)
        }
    }

    /// Formats rows in two columns; long texts are wrapped within the second column, or end after their first part.
    private static func table(of rows: [(String, String)], isShort: Bool = false) -> String {
        let width = min(28, rows.map(\.0.count).max() ?? 0)
        let indent = String(repeating: " ", count: width + 4)
        return rows.map { name, help in
            let help = isShort ? firstPart(of: help, width: shortWidth - 4 - width) : help
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

    private static func lines(of text: String, width: Int = 100) -> String {
        wrap(text.split(separator: " ").map(String.init), firstLinePrefix: "", linePrefix: "", width: width)
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

    /// Command lines that show the usual use of each command.
    static let examples: [String: [String]] = [
        "eidetic": [
            "eidetic load --out photos @urls.txt", "eidetic convert --size 800x --format webp --out small *.jpg",
        ],
        "eidetic load": [
            "eidetic load --out photos --continue @urls.txt",
            "eidetic load --size 400x400 --out a.webp https://example.org/a.jpg",
        ],
        "eidetic prefetch": ["eidetic prefetch https://example.org/a.jpg", "eidetic prefetch --disk-only @urls.txt"],
        "eidetic inspect": ["eidetic inspect *.jpg", "eidetic inspect --check --json @files.txt"],
        "eidetic convert": [
            "eidetic convert --size 800x --format webp --out small *.jpg",
            "eidetic convert --in-place --max-bytes 200KB photo.jpg",
        ],
        "eidetic completions": [
            "eidetic completions bash > ~/.local/share/bash-completion/completions/eidetic",
            "eidetic completions fish > ~/.config/fish/completions/eidetic.fish",
        ],
        "eidetic help": ["eidetic help load", "eidetic help cache list"],
        "eidetic cache": ["eidetic cache info", "eidetic cache get --out a.jpg https://example.org/a.jpg"],
        "eidetic cache info": ["eidetic cache info", "eidetic cache info --json --cache-dir /var/cache/photos"],
        "eidetic cache list": ["eidetic cache list", "eidetic cache list --json"],
        "eidetic cache get": [
            "eidetic cache get --out a.jpg https://example.org/a.jpg",
            "eidetic cache get https://example.org/a.jpg > a.jpg",
        ],
        "eidetic cache put": [
            "eidetic cache put https://example.org/a.jpg a.jpg",
            "eidetic cache put https://example.org/a.jpg - < a.jpg",
        ],
        "eidetic cache remove": [
            "eidetic cache remove https://example.org/a.jpg",
            "eidetic cache remove --cache-dir /tmp/c https://example.org/a.jpg",
        ],
        "eidetic cache clean": ["eidetic cache clean", "eidetic cache clean --size 20MB"],
        "eidetic cache clear": ["eidetic cache clear", "eidetic cache clear --cache-dir /var/cache/photos"],
        "eidetic cache verify": ["eidetic cache verify", "eidetic cache verify --json"],
        "eidetic transfer": ["eidetic transfer add https://example.org/film.mkv", "eidetic transfer watch"],
        "eidetic transfer add": [
            "eidetic transfer add https://example.org/film.mkv",
            "eidetic transfer add --upload film.mkv https://example.org/films/",
        ],
        "eidetic transfer list": ["eidetic transfer list", "eidetic transfer list --json"],
        "eidetic transfer watch": ["eidetic transfer watch", "eidetic transfer watch --json"],
        "eidetic transfer cancel": ["eidetic transfer cancel 3", "eidetic transfer cancel 3 4"],
        "eidetic transfer pause": ["eidetic transfer pause 3", "eidetic transfer pause 3 4"],
        "eidetic transfer resume": ["eidetic transfer resume 3", "eidetic transfer resume 3 4"],
        "eidetic app": ["eidetic app list", "eidetic app launch org.example.Photos"],
        "eidetic app list": ["eidetic app list", "eidetic app list --json"],
        "eidetic app log": ["eidetic app log", "eidetic app log org.example.Photos"],
        "eidetic app launch": [
            "eidetic app launch org.example.Photos", "eidetic app launch --background org.example.Mail",
        ],
        "eidetic app foreground": [
            "eidetic app foreground org.example.Photos", "eidetic app foreground org.example.Mail",
        ],
        "eidetic app background": [
            "eidetic app background org.example.Photos", "eidetic app background org.example.Mail",
        ],
        "eidetic app open": [
            "eidetic app open org.example.Photos file:///tmp/a.jpg", "eidetic app open mailto:a@example.org",
        ],
        "eidetic app quit": ["eidetic app quit org.example.Photos", "eidetic app quit --force org.example.Mail"],
        "eidetic app push": ["eidetic app push org.example.Mail", "eidetic app push org.example.Mail '{\"new\": 2}'"],
        "eidetic app simulate": [
            "eidetic app simulate org.example.Mail fetch", "eidetic app simulate org.example.Photos memory 2",
        ],
        "eidetic app why": ["eidetic app why org.example.Photos", "eidetic app why --json org.example.Photos"],
    ]
}

extension String {
    /// The text without spaces at its end.
    fileprivate var trimmingSpaces: String { String(reversed().drop { $0 == " " }.reversed()) }
}
