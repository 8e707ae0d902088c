import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("Subprocess", .timeLimit(.minutes(1)))
struct SubprocessTests {
    @Test("collects the output and the exit status")
    func collectsOutput() async throws {
        let result = try await Subprocess.run("sh", arguments: ["-c", "echo out; echo err >&2; exit 3"])
        #expect(result.outputText == "out\n")
        #expect(result.errorText == "err\n")
        #expect(result.status == .exited(3))
    }

    @Test("sets the input, the environment and the working directory")
    func configures() async throws {
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

    @Test("ignores that a program does not read its input")
    func ignoresBrokenPipe() async throws {
        let input = [UInt8](repeating: 1, count: 1 << 20)
        #expect(try await Subprocess.run("true", input: input).status == .exited(0))
    }

    @Test("a program receives signals that this process ignores, as in the background of a shell")
    func signalsAreDefault() async throws {
        let old = signal(SIGINT, SIG_IGN)
        defer { signal(SIGINT, old) }
        #expect(try await Subprocess.run("sh", arguments: ["-c", "kill -INT $$; exit 0"]).status == .signalled(SIGINT))
    }

    @Test("reports the signal that killed a program")
    func kills() async throws {
        let process = try Subprocess("sh", arguments: ["-c", "echo ready; exec sleep 60"])
        #expect(await process.waitForOutput("ready"))
        process.kill(SIGTERM)
        let result = await process.waitUntilExit()
        #expect(result.status == .signalled(SIGTERM))
        #expect(result.outputText == "ready\n")
    }

    @Test("waiting for missing text ends with the program")
    func waitsForMissingText() async throws {
        let process = try Subprocess("echo", arguments: ["something"])
        #expect(await process.waitForOutput("else") == false)
    }

    @Test("waiting for missing text ends when the task is cancelled, and after its limit")
    func waitIsLimited() async throws {
        let process = try Subprocess("sh", arguments: ["-c", "echo ready; exec sleep 60"])
        #expect(await process.waitForOutput("ready"))
        let wait = Task { await process.waitForOutput("else") }
        wait.cancel()
        #expect(await wait.value == false)
        #expect(await process.waitForOutput("else", limit: .milliseconds(1)) == false)
        process.kill()
        _ = await process.waitUntilExit()
    }

    @Test("a missing program is an error with its name")
    func refusesMissing() throws {
        #expect(throws: SystemError(.open, errorNumber: ENOENT, path: "no-such-program-here")) {
            _ = try Subprocess("no-such-program-here")
        }
    }
}
