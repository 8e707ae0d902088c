import EideticCore
import EideticSupervisor
import EideticTestSupport
import EideticWire
import LifecycleCore
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
        // Its budget would have ended twice.
        let status = try #require(try daemon.status(of: "one")), end = SystemTime().uptime + .milliseconds(500)
        #expect(status.state == .background && status.backgroundTimeRemaining == nil)
        await daemon.waitForStatuses { _ in SystemTime().uptime >= end }
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

    @Test(
        "B10 it goes on when the supervisor is replaced, and its progress is shown again",
        arguments: ControlGroups.kinds
    )
    func replaced(kind: FreezerKind) async throws {
        let harness = try await WakeHarness(kind, Self.short, withBus: true), daemon = harness.daemon
        let desktop = try await harness.start("notification-server")
        try await harness.launch("one")
        try await beginWork(in: harness)
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectState(.background, of: "one")
        try await daemon.replace()
        try await harness.send("progress 4", to: "one")
        #expect(await desktop.waitForOutput(" 40 Export\n"), "\(desktop.outputSoFar)")
        try await harness.send("progress 10", to: "one", isAnswered: false)
        await daemon.expectOutput("one work export ended at 10\n")
        await daemon.expectState(.suspended, of: "one")
        await harness.finish()
    }
}
