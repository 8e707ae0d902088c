import EideticCore
import EideticLifecycle
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import Testing

/// Signals and programs from outside, which reach the supervisor and its applications.
@Suite("Stops, requests and ends from outside", .serialized, .timeLimit(.minutes(3)))
struct OutsideTests {
    private let kind = ControlGroups.kinds[0]

    @Test("B05 a request whose sender has given up while the supervisor did not run is not carried out")
    func lateRequest() async throws {
        let daemon = try await Daemon(kind)
        try daemon.install("one")
        daemon.process.kill(SIGSTOP)
        do {
            let socket = try PacketSocket.connect(to: daemon.controlSocket)
            let request = ControlRequest.launch(identifier: "one", url: nil, inBackground: false)
            _ = try socket.send(WireWriter.encode(request))
        }
        daemon.process.kill(SIGCONT)
        await daemon.expectLine(.log(identifier: nil, count: 200)) { $0.contains("came late: given up") }
        #expect(try daemon.status(of: "one")?.process == nil)
        await daemon.finish()
    }

    @Test("B16 a process that somebody has stopped is not killed for what it could not do", arguments: kinds)
    func stoppedProcess(kind: FreezerKind) async throws {
        let limits = ["callback=1500", "background=1500", "idle=10"].flatMap { ["--limit", $0] }
        let daemon = try await Daemon(kind, limits)
        try await daemon.launchInForeground("one")
        let process = try #require(try daemon.status(of: "one")?.process)
        kill(process, SIGSTOP)
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectLine(.log(identifier: "one", count: 200)) { $0.contains("is stopped by a signal") }
        #expect(try daemon.lines(.explain(identifier: "one")).contains { $0.contains("no limit, as it is stopped") })
        kill(process, SIGCONT)
        await daemon.expectState(.suspended, of: "one")
        #expect(try daemon.status(of: "one")?.process == process)
        await daemon.finish()
    }

    @Test("B05 the first process of a container tells its applications of its end, and waits for theirs")
    func firstProcess() async throws {
        guard system("unshare --pid --fork --mount-proc true 2>/dev/null") == 0 else {
            return print("skipped: no namespaces")
        }
        let launcher = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
        let daemon = try await Daemon(.signals, ["--limit", "quit=2000"], launcher: launcher)
        try await daemon.launchInForeground("one", ["--task", "upload", "--end-tasks"])
        kill(try #require(daemon.children.first), SIGTERM)
        await daemon.waitUntilEnded()
        #expect(await daemon.process.waitForOutput("one willTerminate\n"))
    }

    @Test("B05 an application that reports to a service manager's watchdog is not suspended")
    func watchdog() async throws {
        let daemon = try await Daemon(kind, ["--limit", "idle=10"])
        var program = ProgramDescription(executable: Daemon.probe)
        program.arguments = ["supervised", "--name", "one"]
        program.environment = ["PATH=/usr/bin:/bin", "WATCHDOG_USEC=5000000", "NOTIFY_SOCKET=/nonexistent"]
        try daemon.perform(.install(identifier: "one", program: program))
        try daemon.perform(.launch(identifier: "one", url: nil, inBackground: false))
        await daemon.expectState(.active, of: "one")
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectLine(.explain(identifier: "one")) { $0.contains("reports every 5.0 s (WATCHDOG_USEC)") }
        // A later application is suspended by now.
        try await daemon.launchInForeground("two")
        try await daemon.suspend("two")
        #expect(try daemon.status(of: "one")?.state == .background)
        await daemon.finish()
    }

    @Test(
        "B07 an application is warned when a control group around it alone is nearly full",
        .enabled(if: LimitedGroup.isAvailable, "skipped: needs root and a memory controller of version 1"),
        .disabled(if: Sanitizer.isActive, "skipped: the memory of a sanitizer counts against the limit")
    )
    func memoryOfOne() async throws {
        let group = try LimitedGroup(mebibytes: 200)
        let daemon = try await Daemon(kind)
        let words = group.launcher + [Daemon.probe, "supervised", "--name", "one", "--growth", "178"]
        var program = ProgramDescription(executable: words[0])
        program.arguments = Array(words.dropFirst())
        program.environment = ["PATH=/usr/bin:/bin"]
        try daemon.perform(.install(identifier: "one", program: program))
        try daemon.perform(.launch(identifier: "one", url: nil, inBackground: false))
        await daemon.expectOutput("one memory ")
        await daemon.finish()
    }

    @Test("B08 an entry that declares nothing, and one that was edited, are explained as they are")
    func entries() async throws {
        let directory = try TemporaryDirectory(named: "entries")
        let entry = "[Desktop Entry]\nType=Application\nName=One\nExec=\(Daemon.probe) supervised --name one\n"
        try directory.write(Array(entry.utf8), to: "one.desktop")
        let daemon = try await Daemon(kind, ["--applications", directory.path])
        let answer = try daemon.request(.launch(identifier: "one", url: nil, inBackground: false))
        guard case .refused(_, let message)? = answer.first else {
            Issue.record("\(answer)")
            return
        }
        #expect(message.contains("\(directory.path)/one.desktop has no key that begins with X-Eidetic-"), "\(message)")
        try directory.write(Array((entry + "X-Eidetic-BackgroundModes=fetch;\n").utf8), to: "one.desktop")
        try daemon.perform(.launch(identifier: "one", url: nil, inBackground: false))
        await daemon.expectState(.active, of: "one")
        #expect(try daemon.lines(.explain(identifier: "one")).allSatisfy { !$0.contains("has changed since") })
        try directory.write(Array((entry + "X-Eidetic-BackgroundModes=audio;\n").utf8), to: "one.desktop")
        #expect(try daemon.lines(.explain(identifier: "one")).contains { $0.contains("has changed since") })
        try directory.write(Array((entry + "X-Eidetic-BackgroundBudget=x\n").utf8), to: "one.desktop")
        #expect(try daemon.lines(.explain(identifier: "one")).contains { $0.contains("one.desktop cannot be used: ") })
        #expect(unlink(directory.path(of: "one.desktop")) == 0)
        #expect(try daemon.lines(.explain(identifier: "one")).contains { $0.contains("one.desktop is gone") })
        await daemon.finish()
    }
}
