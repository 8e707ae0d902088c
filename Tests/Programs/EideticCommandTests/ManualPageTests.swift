import EideticTestSupport
import Testing

@Suite("Manual pages", .timeLimit(.minutes(1)))
struct ManualPageTests {
    /// The programs with pages, and the word between a program's name and a command's for its whole help.
    static let programs: [(name: String, help: [String])] = [
        ("eidetic", ["help"]), ("eidetic-app", []), ("eideticd", []), ("eidetic-transferd", []),
    ]

    private static func output(of name: String, _ arguments: [String]) async throws -> String {
        let path = EideticProgram.path.replacing(/[^\/]+$/, with: name)
        let result = try await Subprocess.run(path, arguments: arguments)
        try #require(result.status == .exited(0), "\(name) \(arguments): \(result.errorText)")
        return result.outputText
    }

    /// Returns the words of a text with one space between them, without "[OPTION…]"; typesetting has its own characters
    /// for hyphens.
    private static func normalized(_ text: String) -> String {
        text.replacing("−", with: "-").replacing("‐", with: "-").replacing("[OPTION…]", with: "")
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Returns the page as a reader sees it.
    private static func rendered(_ page: String) async throws -> String {
        let result = try await Subprocess.run(
            "groff",
            arguments: ["-man", "-ww", "-Kutf8", "-Tutf8", "-P-cbou"],
            input: Array(page.utf8)
        )
        #expect(result.status == .exited(0) && result.errorText == "")
        return normalized(result.outputText)
    }

    /// Returns the texts of a help: the summary, the usage, each paragraph, each row of a table with its wrapped lines.
    private static func texts(ofHelp help: String) -> [String] {
        let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
        // In the page the summary is a sentence of its own, which begins with a capital letter.
        var texts = [lines[0].split(separator: ": ", maxSplits: 1).last.map { String($0.dropFirst()) } ?? ""]
        var isRowOpen = false
        for line in lines.dropFirst() {
            let indent = line.prefix { $0 == " " }.count
            let startsRow = indent == 2 || (indent == 6 && line.dropFirst(6).hasPrefix("--"))
            if line.isEmpty || line.wholeMatch(of: /[a-z ]+:/) != nil {
                isRowOpen = false
            } else if isRowOpen, !startsRow {
                texts[texts.count - 1] += " " + line
            } else {
                texts.append(String(line))
                isRowOpen = true
            }
        }
        return texts.map { normalized($0.replacing("usage: ", with: "", maxReplacements: 1)) }
    }

    /// Returns a command and all that its help and theirs list.
    private static func commands(of name: String, help word: [String], below path: [String] = []) async throws
        -> [[String]]
    {
        let paragraphs = try await help(of: name, word: word, path: path).split(separator: "\n\n")
        let rows = paragraphs.first { $0.hasPrefix("commands:\n") }?.split(separator: "\n").dropFirst() ?? []
        var commands = [path]
        for row in rows {
            let command = row.split(separator: " ").prefix(1).map(String.init)
            commands += try await Self.commands(of: name, help: word, below: path + command)
        }
        return commands
    }

    private static func help(of name: String, word: [String], path: [String]) async throws -> String {
        // The whole help of that program is a part of another one's.
        if name == "eidetic-app" { return try await output(of: "eidetic", ["help", "app"] + path) }
        return try await output(of: name, word.isEmpty ? path + ["--help"] : word + path)
    }

    @Test(
        "the page of a program has the help of each of its commands, whole",
        .enabled(if: Subprocess.executablePath(for: "groff") != nil, "groff is not installed"),
        arguments: programs
    )
    func completeness(_ name: String, help word: [String]) async throws {
        let page = try await Self.rendered(Self.output(of: name, ["--man-page"]))
        let commands = try await Self.commands(of: name, help: word)
        #expect(commands.count >= (name == "eidetic" ? 30 : name == "eidetic-app" ? 11 : 1), "\(commands)")
        for command in commands {
            let help = try await Self.help(of: name, word: word, path: command)
            for text in Self.texts(ofHelp: help) where !text.hasSuffix(" COMMAND …") {
                #expect(page.contains(text), "\(name) \(command)")
            }
        }
    }

    @Test("a page says its section, its version and the other pages", arguments: programs)
    func heading(_ name: String, help: [String]) async throws {
        let page = try await Self.output(of: name, ["--man-page"])
        let firstLine = try await Self.output(of: name, ["--version"]).split(separator: "\n")[0]
        let version = firstLine.split(separator: " ").last
        let section = ["eideticd", "eidetic-transferd"].contains(name) ? 8 : 1
        #expect(page.hasPrefix(".TH \(name.uppercased()) \(section) \"\" \"eidetic \(version ?? "")\""))
        for other in Self.programs.map(\.name) where other != name {
            #expect(page.contains("\\fB\(other.replacing("-", with: "\\-"))\\fR("))
        }
    }
}
