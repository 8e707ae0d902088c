import EideticTestSupport
import Testing

@Suite("Command line", .timeLimit(.minutes(1)))
struct CommandLineTests {
    @Test(
        "a command line that is not understood is told why, and ends with status 2",
        arguments: [
            ([], "eidetic: a command is missing"),
            (["lod"], "eidetic: there is no command \"lod\"; did you mean \"load\"?"),
            (["--halp"], "eidetic: there is no option --halp; did you mean \"--help\"?"),
            (["cache", "inof"], "eidetic cache: there is no command \"inof\"; did you mean \"info\"?"),
            (["inspect"], "eidetic inspect: FILE… is missing"),
            (["inspect", "--jsn", "a"], "eidetic inspect: there is no option --jsn; did you mean \"--json\"?"),
            (["inspect", "--json=yes", "a"], "eidetic inspect: --json takes no value"),
            (["inspect", "-x", "a"], "eidetic inspect: there is no option -x"),
            (["convert", "a", "b", "c"], "eidetic convert: \"c\" is more than convert takes"),
            (["convert", "--size", "0x5", "a", "b.png"], "--size needs a size such as 640x480, not \"0x5\""),
            (["convert", "a", "b", "--quality"], "eidetic convert: --quality needs a number from 0 to 100"),
            (["completions", "csh"], "there is no script for \"csh\""),
        ]
    )
    func refuses(_ words: [String], message: String) async throws {
        let result = try await Subprocess.run(EideticProgram.path, arguments: words)
        #expect(result.status == .exited(2))
        #expect(result.errorText.contains(message))
        #expect(result.errorText.contains("usage: eidetic"))
        #expect(result.output.isEmpty)
    }

    @Test("all that is wrong with a command line is said at once")
    func combinesProblems() async throws {
        let result = try await EideticProgram.run("convert", "--sise", "--quality=700")
        #expect(result.status == .exited(2))
        #expect(result.errorText.contains("there is no option --sise; did you mean \"--size\"?"))
        #expect(result.errorText.contains("--quality needs a number from 0 to 100, not \"700\""))
        #expect(result.errorText.contains("IN OUT is missing"))
    }

    @Test("words after -- are operands")
    func endsOptions() async throws {
        let result = try await EideticProgram.run("inspect", "--", "--json")
        #expect(result.status == .exited(1))
        #expect(result.errorText == "eidetic: --json: No such file or directory\n")
    }

    @Test(
        "every command explains itself",
        arguments: [
            [], ["load"], ["prefetch"], ["inspect"], ["convert"], ["completions"], ["cache"], ["cache", "info"],
            ["cache", "list"],
            ["cache", "get"], ["cache", "put"], ["cache", "remove"], ["cache", "clean"], ["cache", "clear"],
            ["cache", "verify"], ["cache", "export"], ["cache", "import"],
        ]
    )
    func explains(_ words: [String]) async throws {
        let result = try await Subprocess.run(EideticProgram.path, arguments: words + ["--help"])
        #expect(result.status == .exited(0))
        #expect(result.outputText.hasPrefix((["eidetic"] + words).joined(separator: " ") + ": "))
        #expect(result.outputText.contains("usage: "))
        let help = try await Subprocess.run(EideticProgram.path, arguments: ["help"] + words)
        #expect(help.output == result.output)
    }

    @Test("--version names the program and a version")
    func version() async throws {
        let result = try await EideticProgram.run("--version")
        #expect(result.status == .exited(0))
        #expect(result.outputText.wholeMatch(of: /eidetic \d+\.\d+\.\d+\n/) != nil)
    }

    @Test("a reader who goes away ends the program quietly")
    func brokenPipe() async throws {
        let script = "{ \"$0\" --help; echo \"status $?\" >&2; } | true"
        let result = try await Subprocess.run("sh", arguments: ["-c", script, EideticProgram.path])
        #expect(["status 0\n", "status 1\n"].contains(result.errorText))
    }

    @Test("output that cannot be written is a failure")
    func fullOutput() async throws {
        let result = try await Subprocess.run(
            "sh",
            arguments: ["-c", "\"$0\" --help > /dev/full", EideticProgram.path]
        )
        #expect(result.status == .exited(1))
        #expect(result.errorText == "eidetic: the output could not be written: No space left on device\n")
    }
}
