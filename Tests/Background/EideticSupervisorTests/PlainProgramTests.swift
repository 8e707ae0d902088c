import EideticCore
import EideticLifecycle
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import Testing

@Suite("Programs that do not know the supervisor", .serialized, .timeLimit(.minutes(3)))
struct PlainProgramTests {
    private static let limit = ["--limit", "connection=100", "--limit", "idle=10"]

    /// Launches a program, and returns the answer.
    private func launch(
        _ words: [String],
        environment: [String] = [],
        on daemon: Daemon
    ) throws -> [ControlAnswer.Content] {
        var program = ProgramDescription(executable: words[0])
        program.arguments = Array(words.dropFirst())
        program.environment = ["PATH=/usr/bin:/bin"] + environment
        try daemon.perform(.install(identifier: "one", program: program))
        return try daemon.request(.launch(identifier: "one", url: nil, inBackground: false))
    }

    private func expectNote(_ text: String, in answer: [ControlAnswer.Content]) {
        guard case .lines(let lines)? = answer.first, lines.contains(where: { $0.contains(text) }) else {
            Issue.record("\(answer) has no line with \(text)")
            return
        }
    }

    @Test(
        "B01 a program that does not connect is suspended, continued, taken over, and ended by SIGTERM",
        arguments: ControlGroups.kinds
    )
    func plainProgram(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, Self.limit)
        expectNote("does not connect", in: try launch(["/bin/sleep", "1000"], on: daemon))
        await daemon.expectState(.active, of: "one")
        let process = try #require(try daemon.status(of: "one")?.process)
        try await daemon.suspend("one")
        #expect(try daemon.lines(.explain(identifier: "one")).contains { $0.contains("does not connect") })
        try await daemon.resume("one")
        try await daemon.replace()
        await daemon.expectState(.active, of: "one")
        #expect(try daemon.status(of: "one")?.process == process)
        try await daemon.suspend("one")
        try await daemon.replace()
        await daemon.expectState(.suspended, of: "one")
        try await daemon.resume("one")
        try daemon.perform(.quit(identifier: "one", force: false))
        await daemon.expectState(.notRunning, of: "one")
        // The status of a process that an earlier supervisor has started is not known.
        #expect(!(try daemon.status(of: "one")?.lastExit ?? "killed").contains("killed"))
        await daemon.finish()
    }

    @Test("B05 a program that does not connect, and reports to a service manager's watchdog, is not suspended")
    func watchdog() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.limit)
        let variables = ["WATCHDOG_USEC=5000000", "NOTIFY_SOCKET=/nonexistent"]
        expectNote("does not connect", in: try launch(["/bin/sleep", "1000"], environment: variables, on: daemon))
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectLine(.explain(identifier: "one")) { $0.contains("reports every 5.0 s (WATCHDOG_USEC)") }
        try await daemon.replace()
        await daemon.expectLine(.explain(identifier: "one")) { $0.contains("reports every 5.0 s (WATCHDOG_USEC)") }
        // A later application is suspended by now.
        try await daemon.launchInForeground("two")
        try await daemon.suspend("two")
        #expect(try daemon.status(of: "one")?.state == .background)
        await daemon.finish()
    }

    @Test("B01 a suspended program that does not connect receives SIGTERM, and its time", arguments: kinds)
    func quitWhileSuspended(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, Self.limit)
        let script = "trap 'exit 7' TERM; echo trapped; while :; do sleep 0.05; done"
        expectNote("does not connect", in: try launch(["/bin/sh", "-c", script], on: daemon))
        await daemon.expectOutput("trapped")
        try await daemon.suspend("one")
        try daemon.perform(.quit(identifier: "one", force: false))
        await daemon.expectLine(.log(identifier: "one", count: 200)) {
            $0.contains("ended: exit status 7, suspended 1 times for")
        }
        await daemon.finish()
    }

    @Test("B01 a program that ignores SIGTERM is killed, with a reason that is true")
    func ignoredRequest() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.limit + ["--limit", "termination=200"])
        let script = "trap '' TERM; echo trapped; while :; do sleep 0.05; done"
        expectNote("does not connect", in: try launch(["/bin/sh", "-c", script], on: daemon))
        await daemon.expectOutput("trapped")
        try daemon.perform(.quit(identifier: "one", force: false))
        await daemon.expectLine(.log(identifier: "one", count: 200)) { $0.contains("has not ended after SIGTERM") }
        await daemon.expectState(.notRunning, of: "one")
        await daemon.finish()
    }

    @Test("B01 a program that connects late is launched as any other", arguments: [false, true])
    func lateConnection(inBackground: Bool) async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.limit)
        let gate = daemon.directory.path(of: "gate")
        #expect(mkfifo(gate, 0o600) == 0)
        let script = "read line < \(gate); exec \(Daemon.probe) supervised --name one"
        expectNote("does not connect", in: try launch(["/bin/sh", "-c", script], on: daemon))
        let file = open(gate, O_RDWR)
        defer { close(file) }
        if inBackground {
            try await daemon.suspend("one")
            try await daemon.resume("one")
        }
        #expect(write(file, "go\n", 3) == 3)
        let isConnected = await daemon.waitForStatuses { _ in
            (try? daemon.lines(.explain(identifier: "one")).allSatisfy { !$0.contains("does not connect") }) ?? false
        }
        #expect(isConnected)
        await daemon.expectState(.active, of: "one")
        try await daemon.suspend("one")
        await daemon.finish()
    }

    @Test(
        "B01 a launch whose program cannot be started fails with the reason",
        arguments: [
            (nil, 0o700, "No such file or directory"), ("text", 0o600, "Permission denied"),
            ("text", 0o700, "Exec format error"), ("#!/no/such/shell\n", 0o700, "the interpreter that it names"),
        ] as [(String?, mode_t, String)]
    )
    func cannotStart(contents: String?, mode: mode_t, reason: String) async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0])
        let path = daemon.directory.path(of: "program")
        if let contents {
            try daemon.directory.write(Array(contents.utf8), to: "program")
            #expect(chmod(path, mode) == 0)
        }
        let answer = try launch([path], on: daemon)
        guard case .refused(.failed, let message)? = answer.first else {
            Issue.record("\(answer)")
            return
        }
        #expect(message.contains(path) && message.contains(reason), "\(message)")
        await daemon.finish()
    }

    @Test("B01 a launch whose program ends at once fails with its status, and is no failure for status 0")
    func endsAtOnce() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0])
        guard case .refused(.failed, let message)? = try launch(["/bin/false"], on: daemon).first else {
            Issue.record("/bin/false is no failure")
            return
        }
        #expect(message.contains("exit status 1"), "\(message)")
        expectNote("exit status 0", in: try launch(["/bin/true"], on: daemon))
        let command = ["app", "launch", "--runtime-dir", daemon.directory.path(of: "run"), "two", "/bin/false"]
        let result = try await Subprocess.run(Daemon.executable("eidetic"), arguments: command)
        #expect(result.status == .exited(1) && result.errorText.contains("exit status 1"), "\(result.errorText)")
        await daemon.finish()
    }
}
