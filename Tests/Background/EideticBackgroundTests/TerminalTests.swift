import EideticTestSupport
import Glibc
import Testing

@Suite("Job control", .timeLimit(.minutes(1)))
struct TerminalTests {
    static let controlZ = "\u{1a}"
    static let controlC = "\u{3}"

    private func expect(
        _ text: String,
        in terminal: Terminal,
        sourceLocation location: SourceLocation = #_sourceLocation
    ) async {
        let isFound = await terminal.shell.waitForOutput(text)
        #expect(isFound, "no \"\(text)\" in \(terminal.shell.outputSoFar)", sourceLocation: location)
    }

    /// Types keys, and waits for an output.
    private func type(
        _ keys: String,
        in terminal: Terminal,
        until text: String,
        sourceLocation location: SourceLocation = #_sourceLocation
    ) async {
        terminal.type(keys)
        await expect(text, in: terminal, sourceLocation: location)
    }

    private func position(of text: String, in terminal: Terminal) throws -> String.Index {
        let output = terminal.shell.outputSoFar
        var start = output.startIndex
        while start < output.endIndex, !output[start...].hasPrefix(text) { start = output.index(after: start) }
        return try #require(start < output.endIndex ? start : nil, "no \(text) in \(output)")
    }

    @Test("B17 Ctrl-Z waits for the task, then stops the job; fg resumes it; after Ctrl-C it exits with status 0")
    func stopAndForeground() async throws {
        let terminal = try Terminal()
        await type("\(ProbeProcess.command) --task up=300 >&3\n", in: terminal, until: "didBecomeActive active")
        await type(Self.controlZ, in: terminal, until: "done up")
        await type("jobs >&3\n", in: terminal, until: "Stopped")
        await type("fg >&3\n", in: terminal, until: "willEnterForeground background")
        #expect(try position(of: "done up", in: terminal) < position(of: "Stopped", in: terminal))
        #expect(try position(of: "Stopped", in: terminal) < position(of: "willEnterForeground", in: terminal))
        await type(Self.controlC, in: terminal, until: "willTerminate")
        await type("echo status $? >&3; exit\n", in: terminal, until: "status 0")
    }

    @Test("B17 a task that does not end expires before the job stops")
    func expiryBeforeStop() async throws {
        let terminal = try Terminal()
        await type(
            "\(ProbeProcess.command) --task up=-1 --job-grace 200 >&3\n",
            in: terminal,
            until: "didBecomeActive active"
        )
        await type(Self.controlZ, in: terminal, until: "expired up")
        await type("jobs >&3\n", in: terminal, until: "Stopped")
        #expect(try position(of: "expired up", in: terminal) < position(of: "Stopped", in: terminal))
        terminal.type("kill -9 %1; exit\n")
    }

    @Test("B17 after Ctrl-Z a task that does not end has 5 s by default")
    func defaultGracePeriod() async throws {
        let terminal = try Terminal()
        await type(
            "sh -c 'echo process $$ >&3; exec \(ProbeProcess.command) --task up=-1 >&3'\n",
            in: terminal,
            until: "didBecomeActive active"
        )
        await type(Self.controlZ, in: terminal, until: "remaining ")
        let lines = terminal.shell.outputSoFar.split(separator: "\n").map(String.init)
        let remaining = lines.compactMap { $0.number(after: "remaining ") }
        #expect(remaining.count == 1 && remaining.allSatisfy((1...4).contains), "\(lines)")
        kill(try #require(lines.lazy.compactMap { $0.number(after: "process ") }.first.map(Int32.init)), SIGKILL)
        terminal.type("exit\n")
    }

    @Test("B17 bg resumes the job in the background, fg in the foreground")
    func background() async throws {
        let terminal = try Terminal()
        await type("\(ProbeProcess.command) >&3\n", in: terminal, until: "didBecomeActive active")
        await type(Self.controlZ, in: terminal, until: "didEnterBackground")
        // The output of `bg` would appear between the expected lines.
        await type("bg >/dev/null\n", in: terminal, until: "state suspended\nstate background")
        #expect(!terminal.shell.outputSoFar.contains("willEnterForeground"))
        await type("fg >&3\n", in: terminal, until: "willEnterForeground background")
        await type(Self.controlC, in: terminal, until: "willTerminate")
        terminal.type("exit\n")
    }

    @Test("B02 a job that is started in the background is launched there, and becomes active with fg")
    func startedInBackground() async throws {
        let terminal = try Terminal()
        await type("\(ProbeProcess.command) >&3 &\n", in: terminal, until: "didFinishLaunching background")
        await expect("state background", in: terminal)
        #expect(!terminal.shell.outputSoFar.contains("didBecomeActive"))
        await type("fg >/dev/null\n", in: terminal, until: "willEnterForeground background\n")
        await expect("didBecomeActive active", in: terminal)
        await type(Self.controlC, in: terminal, until: "willTerminate")
        terminal.type("exit\n")
    }

    @Test("B02 a program with windows is in the foreground when it is started with &")
    func startedWithWindows() async throws {
        let terminal = try Terminal()
        await type("\(ProbeProcess.command) --ignore-terminal >&3 &\n", in: terminal, until: "didBecomeActive active")
        await type("kill %1\n", in: terminal, until: "willTerminate")
        terminal.type("exit\n")
    }

    @Test("B02 a program that a script in the foreground starts with & is in the foreground")
    func startedByScript() async throws {
        let terminal = try Terminal()
        // Without job control the program stays in the process group of its script.
        await type(
            "bash -c '\(ProbeProcess.command) >&3 & read line; kill $!; wait'\n",
            in: terminal,
            until: "didBecomeActive active"
        )
        await type("\nexit\n", in: terminal, until: "willTerminate")
    }
}
