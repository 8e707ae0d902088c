import EideticTestSupport
import Testing

@Suite("Shell completions", .timeLimit(.minutes(1)))
struct CompletionTests {
    static let bashInstalled = Subprocess.executablePath(for: "bash") != nil
    static let zshInstalled = Subprocess.executablePath(for: "zsh") != nil
    static let fishInstalled = Subprocess.executablePath(for: "fish") != nil

    private static func script(for shell: String) async throws -> (path: String, directory: TemporaryDirectory) {
        let directory = try TemporaryDirectory(named: "completions")
        let result = try await EideticProgram.run("completions", shell)
        try #require(result.status == .exited(0))
        return (try directory.write(result.output, to: "script"), directory)
    }

    /// Returns the completions of bash at the end of a command line.
    private static func bashCompletions(for words: [String]) async throws -> [String] {
        let script = try await script(for: "bash")
        let body = """
            source "$0"; COMP_WORDS=(eidetic "$@"); COMP_CWORD=$#; compopt() { :; }
            _eidetic; printf '%s\\n' "${COMPREPLY[@]}"
            """
        let result = try await Subprocess.run("bash", arguments: ["-c", body, script.path] + words, directory: "/")
        #expect(result.errorText == "")
        return result.outputText.split(separator: "\n").map(String.init)
    }

    @Test(
        "the script is valid in the shell's language",
        arguments: [
            ("bash", ["-n"]), ("zsh", ["-n"]), ("fish", ["--no-execute"]),
        ]
    )
    func syntax(_ shell: String, options: [String]) async throws {
        guard Subprocess.executablePath(for: shell) != nil else { try Test.cancel("\(shell) is not installed") }
        let script = try await Self.script(for: shell)
        let result = try await Subprocess.run(shell, arguments: options + [script.path])
        #expect(result.status == .exited(0))
        #expect(result.errorText == "")
    }

    @Test("bash offers commands, options, values and files", .enabled(if: bashInstalled, "bash is not installed"))
    func bash() async throws {
        #expect(try await Self.bashCompletions(for: ["in"]) == ["inspect"])
        #expect(try await Self.bashCompletions(for: ["cache", "ve"]) == ["verify"])
        #expect(try await Self.bashCompletions(for: ["inspect", "--j"]) == ["--json"])
        #expect(try await Self.bashCompletions(for: ["completions", ""]).starts(with: ["bash", "zsh", "fish"]))
        #expect(try await Self.bashCompletions(for: ["load", "--out", "/us"]) == ["/usr"])
        #expect(try await Self.bashCompletions(for: ["load", "--show", "=", "s"]) == ["sixel"])
        #expect(try await Self.bashCompletions(for: ["load", "--option", "refresh"]) == ["refreshCached"])
        #expect(try await Self.bashCompletions(for: ["prefetch", "--disk"]) == ["--disk-only"])
        #expect(try await Self.bashCompletions(for: ["inspect", "us"]) == ["usr"])
    }

    @Test("fish offers commands and options", .enabled(if: fishInstalled, "fish is not installed"))
    func fish() async throws {
        let script = try await Self.script(for: "fish")
        let body = "source \(script.path); complete -C 'eidetic cache l'; complete -C 'eidetic inspect --js'"
        let result = try await Subprocess.run("fish", arguments: ["--no-config", "-c", body])
        #expect(result.outputText.contains("list\t"))
        #expect(result.outputText.contains("--json\t"))
    }

    @Test("zsh registers the function", .enabled(if: zshInstalled, "zsh is not installed"))
    func zsh() async throws {
        let script = try await Self.script(for: "zsh")
        let body = "autoload -U compinit; compinit -D; source \(script.path); print $_comps[eidetic]"
        let result = try await Subprocess.run("zsh", arguments: ["-f", "-c", body])
        #expect(result.outputText == "_eidetic\n")
        #expect(result.errorText == "")
    }
}
