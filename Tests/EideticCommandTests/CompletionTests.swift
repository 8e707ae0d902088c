import EideticTestSupport
import Testing

@Suite("Shell completions", .timeLimit(.minutes(1)))
struct CompletionTests {
    static let bashInstalled = Subprocess.find("bash") != nil
    static let zshInstalled = Subprocess.find("zsh") != nil
    static let fishInstalled = Subprocess.find("fish") != nil

    private static func script(_ shell: String) async throws -> (path: String, directory: TemporaryDirectory) {
        let directory = try TemporaryDirectory("completions")
        let result = try await EideticProgram.run("completions", shell)
        try #require(result.status == .exited(0))
        return (try directory.write(result.output, to: "script"), directory)
    }

    /// What bash offers for a command line that ends where the cursor is.
    private static func bashOffers(_ words: [String]) async throws -> [String] {
        let script = try await script("bash")
        let body = """
            source "$0"; COMP_WORDS=(eidetic "$@"); COMP_CWORD=$#; compopt() { :; }
            _eidetic; printf '%s\\n' "${COMPREPLY[@]}"
            """
        let result = try await Subprocess.run("bash", ["-c", body, script.path] + words, directory: "/")
        #expect(result.errorText == "")
        return result.outputText.split(separator: "\n").map(String.init)
    }

    @Test(
        "the script is in the shell's language",
        arguments: [
            ("bash", ["-n"]), ("zsh", ["-n"]), ("fish", ["--no-execute"]),
        ]
    )
    func syntax(_ shell: String, _ options: [String]) async throws {
        guard Subprocess.find(shell) != nil else { try Test.cancel("\(shell) is not installed") }
        let script = try await Self.script(shell)
        let result = try await Subprocess.run(shell, options + [script.path])
        #expect(result.status == .exited(0))
        #expect(result.errorText == "")
    }

    @Test("bash offers commands, options, values and files", .enabled(if: bashInstalled, "bash is not installed"))
    func bash() async throws {
        #expect(try await Self.bashOffers(["in"]) == ["inspect"])
        #expect(try await Self.bashOffers(["cache", "ve"]) == ["verify"])
        #expect(try await Self.bashOffers(["inspect", "--j"]) == ["--json"])
        #expect(try await Self.bashOffers(["completions", ""]).starts(with: ["bash", "zsh", "fish"]))
        #expect(try await Self.bashOffers(["load", "--out", "/us"]) == ["/usr"])
        #expect(try await Self.bashOffers(["load", "--show", "=", "s"]) == ["sixel"])
        #expect(try await Self.bashOffers(["load", "--option", "refresh"]) == ["refreshCached"])
        #expect(try await Self.bashOffers(["prefetch", "--disk"]) == ["--disk-only"])
        #expect(try await Self.bashOffers(["inspect", "us"]) == ["usr"])
    }

    @Test("fish offers commands and options", .enabled(if: fishInstalled, "fish is not installed"))
    func fish() async throws {
        let script = try await Self.script("fish")
        let body = "source \(script.path); complete -C 'eidetic cache l'; complete -C 'eidetic inspect --js'"
        let result = try await Subprocess.run("fish", ["--no-config", "-c", body])
        #expect(result.outputText.contains("list\t"))
        #expect(result.outputText.contains("--json\t"))
    }

    @Test("zsh registers the function", .enabled(if: zshInstalled, "zsh is not installed"))
    func zsh() async throws {
        let script = try await Self.script("zsh")
        let body = "autoload -U compinit; compinit -D; source \(script.path); print $_comps[eidetic]"
        let result = try await Subprocess.run("zsh", ["-f", "-c", body])
        #expect(result.outputText == "_eidetic\n")
        #expect(result.errorText == "")
    }
}
