import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Work that the user has started", .serialized, .timeLimit(.minutes(2)))
struct ContinuedTests {
    /// Less background time than the work takes.
    private static let short = WakeHarness.fast + ["--limit", "budget=200", "--limit", "expiration=2000"]

    /// Begins work, and waits until the supervisor has accepted it: in the background it would refuse it.
    private func beginWork(in harness: WakeHarness) async throws {
        try await harness.send("continue export", to: "one")
        await harness.daemon.expectOutput("one work export begins\n")
    }

    /// Waits for the end of the background time of another application, which enters the background now.
    private func endBudget(of name: String, in harness: WakeHarness) async throws {
        try await harness.daemon.launchInForeground(name, ["--task", "other", "--end-tasks"])
        try harness.daemon.perform(.background(identifier: name))
        await harness.daemon.expectOutput("\(name) expire\n")
    }

    /// The notifications that the record of the application names for another supervisor.
    private func progressNumbers(in daemon: Daemon) -> [String: UInt32]? {
        let path = "\(daemon.directory.path(of: "run"))/applications/one/record"
        guard let bytes = try? FileSystem().contents(of: path) else { return nil }
        return (try? WireReader.decode(ApplicationRecord.self, from: bytes))?.process?.progressNumbers
    }

    @Test(
        "B10 it goes on in the background beyond the background time, shows its progress, and ends suspended",
        arguments: ControlGroups.kinds
    )
    func goesOn(kind: FreezerKind) async throws {
        let harness = try await WakeHarness(kind, Self.short, withBus: true), daemon = harness.daemon
        let desktop = try await harness.start("notification-server")
        try await harness.launch("one")
        try await beginWork(in: harness)
        try await harness.send("progress 2", to: "one")
        try daemon.perform(.background(identifier: "one"))
        // Its report may come after the application is in the background, and the notification shows 0 % before.
        #expect(await desktop.waitForOutput(" 20 Export\n"), "\(desktop.outputSoFar)")
        try await endBudget(of: "two", in: harness)
        let status = try #require(try daemon.status(of: "one"))
        #expect(status.state == .background && status.backgroundTimeRemaining == nil)
        try await harness.send("progress 5", to: "one")
        #expect(await desktop.waitForOutput("progress 1 replacing 1 50 Export\n"), "\(desktop.outputSoFar)")
        #expect(try harness.why("one").contains { $0.hasPrefix("continues what the user has started: Export, 50 %") })
        try await harness.send("progress 10", to: "one", isAnswered: false)
        await daemon.expectOutput("one work export ended at 10\n")
        #expect(await desktop.waitForOutput("closes 1\n"))
        await daemon.expectState(.suspended, of: "one")
        await harness.finish()
    }

    @Test(
        "B10 it is stopped in the background when it makes no progress, or when the user cancels it",
        arguments: [true, false],
        ControlGroups.kinds
    )
    func stopped(byUser: Bool, kind: FreezerKind) async throws {
        let limit = ["--limit", "progress=\(byUser ? 30_000 : 300)"]
        let harness = try await WakeHarness(kind, WakeHarness.fast + limit, withBus: true)
        let desktop = try await harness.start("notification-server")
        try await harness.launch("one")
        try await beginWork(in: harness)
        try await harness.send("progress 3", to: "one")
        try harness.daemon.perform(.background(identifier: "one"))
        #expect(await desktop.waitForOutput(" 30 Export\n"), "\(desktop.outputSoFar)")
        if byUser { try await harness.send("cancel 1", to: "notification-server", isAnswered: false) }
        await harness.daemon.expectOutput("one work export ended at 3\n")
        #expect(await desktop.waitForOutput("closes 1\n"))
        await harness.daemon.expectState(.suspended, of: "one")
        let reason = byUser ? "the user has cancelled it" : "it has made no progress for 0.3 s"
        #expect(try harness.log("one").contains { $0.hasSuffix("Export is stopped: \(reason)") })
        await harness.finish()
    }

    @Test("B10 it begins in the foreground only, and only if the application declares it")
    func refused() async throws {
        let entries = try DesktopEntries(["one": "X-Eidetic-BackgroundModes=fetch;"])
        let options = WakeHarness.fast + ["--applications", entries.path]
        let harness = try await WakeHarness(ControlGroups.kinds[0], options)
        try await harness.launch("one")
        try await harness.send("continue export", to: "one", isAnswered: false)
        await harness.daemon.expectOutput("one work export refused: ")
        #expect(try harness.log("one").contains { $0.contains("does not name continued") })
        try await harness.launch("two")
        try await harness.bring("two", to: .background)
        try await harness.send("continue export", to: "two", isAnswered: false)
        await harness.daemon.expectOutput("two work export refused: ")
        #expect(harness.daemon.output.contains("export: the application is not in the foreground: begin it there"))
        await harness.finish()
    }

    @Test("B10 it goes on when the supervisor is replaced, and its progress is shown again", arguments: kinds)
    func replaced(kind: FreezerKind) async throws {
        let harness = try await WakeHarness(kind, Self.short, withBus: true), daemon = harness.daemon
        let desktop = try await harness.start("notification-server")
        try await harness.launch("one")
        try await beginWork(in: harness)
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectState(.background, of: "one")
        #expect(await desktop.waitForOutput("progress 1 replacing 0 0 Export\n"), "\(desktop.outputSoFar)")
        await daemon.waitForStatuses { _ in progressNumbers(in: daemon) == ["export": 1] }
        try await daemon.replace()
        try await harness.send("progress 4", to: "one")
        #expect(await desktop.waitForOutput(" 40 Export\n"), "\(desktop.outputSoFar)")
        try await endBudget(of: "two", in: harness)
        #expect(try daemon.status(of: "one")?.state == .background)
        try await harness.send("progress 10", to: "one", isAnswered: false)
        await daemon.expectOutput("one work export ended at 10\n")
        await daemon.expectState(.suspended, of: "one")
        #expect(await desktop.waitForOutput("closes 1\n"))
        #expect(!desktop.outputSoFar.contains("progress 2"), "\(desktop.outputSoFar)")
        await harness.finish()
    }

    @Test("B10 a supervisor that ends, or whose successor finds the application dead, leaves no notification")
    func withdrawn() async throws {
        for isStopped in [true, false] {
            let harness = try await WakeHarness(ControlGroups.kinds[0], WakeHarness.fast, withBus: true)
            let daemon = harness.daemon, desktop = try await harness.start("notification-server")
            try await harness.launch("one")
            try await beginWork(in: harness)
            try daemon.perform(.background(identifier: "one"))
            #expect(await desktop.waitForOutput("progress 1 replacing 0 0 Export\n"), "\(desktop.outputSoFar)")
            await daemon.waitForStatuses { _ in
                progressNumbers(in: daemon) == ["export": 1]
            }
            let process = try #require(try daemon.status(of: "one")?.process)
            if isStopped {
                daemon.process.kill(SIGTERM)
            } else {
                await daemon.kill()
                #expect(kill(process, SIGKILL) == 0)
                try await daemon.start()
            }
            #expect(await desktop.waitForOutput("closes 1\n"), "\(desktop.outputSoFar)")
            await harness.finish()
        }
    }

    @Test("B10 work that begins while stopped work still ends goes on like the first, and eight go on at once")
    func several() async throws {
        let harness = try await WakeHarness(ControlGroups.kinds[0], Self.short, withBus: true), daemon = harness.daemon
        let desktop = try await harness.start("notification-server")
        try await harness.launch("one", ["--ignores-cancellation"])
        try await beginWork(in: harness)
        try daemon.perform(.background(identifier: "one"))
        #expect(await desktop.waitForOutput("progress 1 replacing 0 0 Export\n"), "\(desktop.outputSoFar)")
        try await harness.send("cancel 1", to: "notification-server", isAnswered: false)
        await daemon.expectLine(.log(identifier: "one", count: 200)) { $0.contains("Export is stopped: ") }
        try await daemon.resume("one")
        for number in 1...8 {
            try await harness.send("continue other\(number)", to: "one", isAnswered: false)
            await daemon.expectOutput("one work other\(number) begins\n")
        }
        try await harness.send("continue other9", to: "one", isAnswered: false)
        await daemon.expectOutput("one work other9 refused: ")
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectState(.background, of: "one")
        let why = try harness.why("one")
        #expect(why.contains("not suspended: it holds the assertion continued"))
        #expect(why.count { $0.hasPrefix("continues what the user has started: ") } == 8)
        await harness.finish()
    }

    @Test("B10 a report for each unit, with no total, neither delays the lifecycle nor is lost")
    func manyReports() async throws {
        let harness = try await WakeHarness(ControlGroups.kinds[0], Self.short, withBus: true), daemon = harness.daemon
        let desktop = try await harness.start("notification-server")
        try await harness.launch("one")
        try await beginWork(in: harness)
        try await harness.send("reports 20000", to: "one")
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectState(.background, of: "one")
        // The last report, which a later one has not followed.
        #expect(await desktop.waitForOutput(" 90 Export\n"), "\(desktop.outputSoFar)")
        try await harness.send("progress 10", to: "one", isAnswered: false)
        await daemon.expectOutput("one work export ended at 10\n")
        await harness.finish()
    }

    @Test("B10 work that uses a processor is slowed down, and not called in while it makes progress")
    func busy() async throws {
        let limits = WakeHarness.fast + ["--limit", "processor=500", "--processor-share", "1"]
        let harness = try await WakeHarness(ControlGroups.kinds[0], limits), daemon = harness.daemon
        try await harness.launch("one")
        try await beginWork(in: harness)
        try await harness.send("burn 2500", to: "one", isAnswered: false)
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectOutput("one done burn 2500\n")
        let log = try harness.log("one")
        #expect(log.contains { $0.contains("slowed down") } && !log.contains { $0.contains("called in early") })
        try await harness.send("progress 10", to: "one", isAnswered: false)
        await daemon.expectOutput("one work export ended at 10\n")
        await harness.finish()
    }
}
