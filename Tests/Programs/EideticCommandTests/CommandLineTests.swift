import EideticCore
import EideticTestSupport
import Testing

@Suite("Command line", .timeLimit(.minutes(1)))
struct CommandLineTests {
    @Test(
        "an invalid command line is reported with its errors, and the exit status is 2",
        arguments: [
            ([], "eidetic: missing command"),
            (["lod"], "eidetic: unknown command \"lod\"; did you mean \"load\"?"),
            (["--halp"], "eidetic: unknown option --halp; did you mean \"--help\"?"),
            (["cache", "inof"], "eidetic cache: unknown command \"inof\"; did you mean \"info\"?"),
            (["inspect"], "eidetic inspect: missing operand FILE…"),
            (["inspect", "--jsn", "a"], "eidetic inspect: unknown option --jsn; did you mean \"--json\"?"),
            (["inspect", "--json=yes", "a"], "eidetic inspect: --json takes no value"),
            (["inspect", "-x", "a"], "eidetic inspect: unknown option -x"),
            (
                ["convert", "a", "b", "c"],
                "eidetic convert: there are 2 images and one OUT; use --out, --in-place or --animate"
            ),
            (
                ["convert", "--size", "0x5", "a", "b.png"],
                "invalid value \"0x5\" for --size: expected a size such as 640x480"
            ),
            (
                ["convert", "a", "b", "--quality"],
                "eidetic convert: missing value for --quality: expected a number from 0 to 100"
            ),
            (["completions", "csh"], "unknown shell \"csh\""),
        ]
    )
    func refuses(_ words: [String], message: String) async throws {
        let result = try await Subprocess.run(EideticProgram.path, arguments: words)
        #expect(result.status == .exited(2))
        #expect(result.errorText.contains(message))
        let lines = result.errorText.split(separator: "\n")
        #expect(lines.count == 2 && lines[1].wholeMatch(of: /see eidetic.* --help/) != nil, "\(result.errorText)")
        #expect(result.output.isEmpty)
    }

    @Test("all errors of a command line are reported together")
    func combinesProblems() async throws {
        let result = try await EideticProgram.run("convert", "--sise", "--quality=700")
        #expect(result.status == .exited(2))
        #expect(result.errorText.contains("unknown option --sise; did you mean \"--size\"?"))
        #expect(result.errorText.contains("invalid value \"700\" for --quality: expected a number from 0 to 100"))
        #expect(result.errorText.contains("missing operand IN OUT"))
    }

    @Test(
        "a mistyped name of a format is followed by a suggestion, and a file like an option by its other name",
        arguments: [
            (["--format", "wepb", "a.jpg", "b"], #"such as png; did you mean "webp"?"#),
            (["a.jpg", "b.jgp"], #"use --format; did you mean "jpg"?"#),
            (["-a.jpg", "b.png"], "unknown option -a in -a.jpg; for the file of this name write ./-a.jpg"),
        ]
    )
    func suggests(_ words: [String], hint: String) async throws {
        let directory = try TemporaryDirectory(named: "suggestions")
        try directory.write(try TestImages.encoded(as: .jpeg), to: "-a.jpg")
        let result = try await Subprocess.run(
            EideticProgram.path,
            arguments: ["convert"] + words,
            directory: directory.path
        )
        #expect(result.status == .exited(2))
        #expect(result.errorText.hasSuffix("\(hint)\nsee eidetic convert --help\n"), "\(result.errorText)")
    }

    @Test("words after -- are operands")
    func endsOptions() async throws {
        let result = try await EideticProgram.run("inspect", "--", "--json")
        #expect(result.status == .exited(1))
        #expect(result.errorText == "eidetic: --json: No such file or directory\n")
    }

    @Test(
        "every command has a help text",
        arguments: [
            [], ["load"], ["prefetch"], ["inspect"], ["convert"], ["completions"], ["cache"], ["cache", "info"],
            ["cache", "list"],
            ["cache", "get"], ["cache", "put"], ["cache", "remove"], ["cache", "clean"], ["cache", "clear"],
            ["cache", "verify"], ["transfer"], ["transfer", "add"], ["transfer", "list"], ["transfer", "watch"],
            ["transfer", "cancel"], ["transfer", "pause"], ["transfer", "resume"], ["app"], ["app", "list"],
            ["app", "launch"], ["app", "open"], ["app", "foreground"], ["app", "background"], ["app", "quit"],
            ["app", "push"], ["app", "simulate"], ["app", "why"], ["app", "log"],
        ]
    )
    func explains(_ words: [String]) async throws {
        let result = try await Subprocess.run(EideticProgram.path, arguments: words + ["--help"])
        #expect(result.status == .exited(0))
        #expect(result.outputText.hasPrefix((["eidetic"] + words).joined(separator: " ") + ": "))
        #expect(result.outputText.contains("usage: "))
        // A screen, with two examples; the root has the exit statuses.
        let lines = result.outputText.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.count <= 24 && lines.allSatisfy { $0.count <= 80 }, "\(result.outputText)")
        let examples = try #require(lines.firstIndex(of: "examples:"))
        #expect(lines[(examples + 1)...].prefix { $0.hasPrefix("  eidetic ") }.count == 2)
        #expect(result.outputText.contains("exit status: 0 success; 1 ") == words.isEmpty)
        let help = try await Subprocess.run(EideticProgram.path, arguments: ["help"] + words)
        #expect(help.outputText.hasPrefix((["eidetic"] + words).joined(separator: " ") + ": "))
        #expect(help.outputText.contains("--help") && help.output.count >= result.output.count / 2)
    }

    @Test("--version prints the program and its version, then its commit, traits and libraries")
    func version() async throws {
        let result = try await EideticProgram.run("--version")
        #expect(result.status == .exited(0))
        let lines = result.outputText.split(separator: "\n")
        try #require(lines.count >= 4, "\(result.outputText)")
        #expect(lines[0].wholeMatch(of: /eidetic \d+\.\d+\.\d+/) != nil)
        #expect(lines[1].hasPrefix("commit: ") && lines[2].hasPrefix("traits: "))
        let versions = lines[3].split(separator: ": ")[1].split(separator: ", ")
        #expect(versions.allSatisfy { $0.contains(/\ \d+\.\d+/) }, "\(lines[3])")
        for library in ["libcurl", "libjpeg-turbo", "libpng", "libwebp", "giflib", "libtiff", "Nettle", "xxHash"] {
            #expect(versions.contains { $0.hasPrefix("\(library) ") }, "\(library)")
        }
    }

    @Test(
        "the daemons have the same command line: invalid options are named, with what is expected",
        arguments: [
            ("eideticd", ["--budget", "4"], "\"4\" for --budget: expected a number of seconds from 5 to 600"),
            ("eideticd", ["--limit", "idel=1"], "\"idel=1\" for --limit: expected the name of a limit"),
            ("eideticd", ["--limit", "idle=86400001"], "\"idle=86400001\" for --limit: expected"),
            ("eideticd", ["--state-directory", "a"], "\"a\" for --state-directory: expected an absolute path"),
            ("eideticd", ["--keper"], "eideticd: unknown option --keper; did you mean \"--keeper\"?"),
            ("eideticd", ["a"], "unexpected operand \"a\""),
            ("eidetic-transferd", ["--socket-descriptor", "9"], "expected the number of an open descriptor"),
        ]
    )
    func daemons(_ name: String, words: [String], problem: String) async throws {
        let path = EideticProgram.path.replacing(/[^\/]+$/, with: name)
        let result = try await Subprocess.run(path, arguments: words)
        #expect(result.status == .exited(2))
        #expect(result.errorText.contains(problem), "\(result.errorText)")
        let version = try await Subprocess.run(path, arguments: ["--version"])
        #expect(version.outputText.hasPrefix("\(name) ") && version.status == .exited(0))
    }

    @Test("a closed pipe ends the program without a message")
    func brokenPipe() async throws {
        // The program starts after the other end of the pipe is closed.
        let directory = try TemporaryDirectory(named: "pipe"), closed = directory.path(of: "closed")
        let program = "{ read _ < \"$1\"; \"$0\" --help; echo \"status $?\" >&2; }"
        let script = "mkfifo \"$1\" && \(program) | { exec <&-; echo > \"$1\"; }"
        let result = try await Subprocess.run("sh", arguments: ["-c", script, EideticProgram.path, closed])
        #expect(result.errorText == "status 1\n")
    }

    @Test("output that cannot be written is a failure")
    func fullOutput() async throws {
        let result = try await Subprocess.run(
            "sh",
            arguments: ["-c", "\"$0\" --help > /dev/full", EideticProgram.path]
        )
        #expect(result.status == .exited(1))
        #expect(result.errorText == "eidetic: cannot write the output: No space left on device\n")
    }
}
