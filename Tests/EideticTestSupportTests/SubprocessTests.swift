import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("Subprocess", .timeLimit(.minutes(1)))
struct SubprocessTests {
    @Test("keeps what a program writes, and how it ends")
    func keepsOutput() async throws {
        let result = try await Subprocess.run("sh", arguments: ["-c", "echo out; echo err >&2; exit 3"])
        #expect(result.outputText == "out\n")
        #expect(result.errorText == "err\n")
        #expect(result.status == .exited(3))
    }

    @Test("feeds its input, changes its environment and its directory")
    func setsUp() async throws {
        let script = "cat; echo $COLOUR; echo ${GONE-unset}; pwd"
        setenv("GONE", "there", 1)
        let result = try await Subprocess.run(
            "sh",
            arguments: ["-c", script],
            environment: ["COLOUR": "blue", "GONE": nil],
            directory: "/usr",
            input: Array("in\n".utf8)
        )
        #expect(result.outputText == "in\nblue\nunset\n/usr\n")
    }

    @Test("a program that does not read its input is no failure")
    func ignoresBrokenPipe() async throws {
        let input = [UInt8](repeating: 1, count: 1 << 20)
        #expect(try await Subprocess.run("true", input: input).status == .exited(0))
    }

    @Test("a program takes signals although this process ignores them, as in the background of a shell")
    func signalsAreDefault() async throws {
        let old = signal(SIGINT, SIG_IGN)
        defer { signal(SIGINT, old) }
        #expect(try await Subprocess.run("sh", arguments: ["-c", "kill -INT $$; exit 0"]).status == .signalled(SIGINT))
    }

    @Test("a killed program says by what")
    func kills() async throws {
        let process = try Subprocess("sh", arguments: ["-c", "echo ready; exec sleep 60"])
        #expect(await process.waitForOutput("ready"))
        process.kill(SIGTERM)
        let result = await process.waitUntilExit()
        #expect(result.status == .signalled(SIGTERM))
        #expect(result.outputText == "ready\n")
    }

    @Test("waiting for text that never comes ends with the program")
    func waitsForMissingText() async throws {
        let process = try Subprocess("echo", arguments: ["something"])
        #expect(await process.waitForOutput("else") == false)
    }

    @Test("a program that is not there is an error with its name")
    func refusesMissing() throws {
        #expect(throws: SystemError(.open, errorNumber: ENOENT, path: "no-such-program-here")) {
            _ = try Subprocess("no-such-program-here")
        }
    }
}
