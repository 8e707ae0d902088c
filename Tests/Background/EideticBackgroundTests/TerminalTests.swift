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

    private func position(of text: String, in terminal: Terminal) throws -> String.Index {
        let output = terminal.shell.outputSoFar
        var start = output.startIndex
        while start < output.endIndex, !output[start...].hasPrefix(text) { start = output.index(after: start) }
        return try #require(start < output.endIndex ? start : nil, "no \(text) in \(output)")
    }

    @Test("B17 Ctrl-Z waits for the task, then stops the job; fg resumes it; after Ctrl-C it exits with status 0")
    func stopAndForeground() async throws {
        let terminal = try Terminal()
        terminal.type("\(ProbeProcess.command) --task up=300 >&3\n")
        await expect("didBecomeActive active", in: terminal)
        terminal.type(Self.controlZ)
        await expect("done up", in: terminal)
        terminal.type("jobs >&3\n")
        await expect("Stopped", in: terminal)
        terminal.type("fg >&3\n")
        await expect("willEnterForeground background", in: terminal)
        #expect(try position(of: "done up", in: terminal) < position(of: "Stopped", in: terminal))
        #expect(try position(of: "Stopped", in: terminal) < position(of: "willEnterForeground", in: terminal))
        terminal.type(Self.controlC)
        await expect("willTerminate", in: terminal)
        terminal.type("echo status $? >&3; exit\n")
        await expect("status 0", in: terminal)
    }

    @Test("B17 a task that does not end expires before the job stops")
    func expiryBeforeStop() async throws {
        let terminal = try Terminal()
        terminal.type("\(ProbeProcess.command) --task up=-1 --job-grace 200 >&3\n")
        await expect("didBecomeActive active", in: terminal)
        terminal.type(Self.controlZ)
        await expect("expired up", in: terminal)
        terminal.type("jobs >&3\n")
        await expect("Stopped", in: terminal)
        #expect(try position(of: "expired up", in: terminal) < position(of: "Stopped", in: terminal))
        terminal.type("kill -9 %1; exit\n")
    }

    @Test("B17 after Ctrl-Z a task that does not end has 5 s by default")
    func defaultGracePeriod() async throws {
        let terminal = try Terminal()
        terminal.type("sh -c 'echo process $$ >&3; exec \(ProbeProcess.command) --task up=-1 >&3'\n")
        await expect("didBecomeActive active", in: terminal)
        terminal.type(Self.controlZ)
        await expect("remaining ", in: terminal)
        let lines = terminal.shell.outputSoFar.split(separator: "\n").map(String.init)
        let remaining = lines.compactMap { $0.number(after: "remaining ") }
        #expect(remaining.count == 1 && remaining.allSatisfy((1...4).contains), "\(lines)")
        kill(try #require(lines.lazy.compactMap { $0.number(after: "process ") }.first.map(Int32.init)), SIGKILL)
        terminal.type("exit\n")
    }

    @Test("B17 bg resumes the job in the background, fg in the foreground")
    func background() async throws {
        let terminal = try Terminal()
        terminal.type("\(ProbeProcess.command) >&3\n")
        await expect("didBecomeActive active", in: terminal)
        terminal.type(Self.controlZ)
        await expect("didEnterBackground", in: terminal)
        // The output of `bg` would appear between the expected lines.
        terminal.type("bg >/dev/null\n")
        await expect("state suspended\nstate background", in: terminal)
        #expect(!terminal.shell.outputSoFar.contains("willEnterForeground"))
        terminal.type("fg >&3\n")
        await expect("willEnterForeground background", in: terminal)
        terminal.type(Self.controlC)
        await expect("willTerminate", in: terminal)
        terminal.type("exit\n")
    }

    @Test("B02 a job that is started in the background is launched there, and becomes active with fg")
    func startedInBackground() async throws {
        let terminal = try Terminal()
        terminal.type("\(ProbeProcess.command) >&3 &\n")
        await expect("didFinishLaunching background", in: terminal)
        await expect("state background", in: terminal)
        #expect(!terminal.shell.outputSoFar.contains("didBecomeActive"))
        terminal.type("fg >/dev/null\n")
        await expect("willEnterForeground background\n", in: terminal)
        await expect("didBecomeActive active", in: terminal)
        terminal.type(Self.controlC)
        await expect("willTerminate", in: terminal)
        terminal.type("exit\n")
    }

    @Test("B02 a program with windows is in the foreground when it is started with &")
    func startedWithWindows() async throws {
        let terminal = try Terminal()
        terminal.type("\(ProbeProcess.command) --ignore-terminal >&3 &\n")
        await expect("didBecomeActive active", in: terminal)
        terminal.type("kill %1\n")
        await expect("willTerminate", in: terminal)
        terminal.type("exit\n")
    }

    @Test("B02 a program that a script in the foreground starts with & is in the foreground")
    func startedByScript() async throws {
        let terminal = try Terminal()
        // Without job control the program stays in the process group of its script.
        terminal.type("bash -c '\(ProbeProcess.command) >&3 & read line; kill $!; wait'\n")
        await expect("didBecomeActive active", in: terminal)
        terminal.type("\nexit\n")
        await expect("willTerminate", in: terminal)
    }
}
