import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Supervision", .serialized, .timeLimit(.minutes(3)))
struct SupervisionTests {
    private static let fast = ["--limit", "idle=20"]

    @Test("B01 an application is launched, suspended in the background, and continued", arguments: ControlGroups.kinds)
    func lifecycle(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, Self.fast)
        try daemon.launch("one")
        await daemon.expectOutput("one didBecomeActive")
        await daemon.expectState(.active, of: "one")
        try await daemon.suspend("one")
        let status = try #require(try daemon.status(of: "one"))
        #expect(status.freezer == (kind == .group ? .controlGroup : .signal))
        #expect(status.suspensionCount == 1 && status.openTasks == 0 && status.residentMemory > 0)
        try daemon.perform(.foreground(identifier: "one"))
        await daemon.expectOutput("one suspended")
        await daemon.expectOutput("one didBecomeActive", times: 2)
        let lines = daemon.output.split(separator: "\n").filter { $0.hasPrefix("one ") }
        #expect(
            lines == [
                "one welcome 1", "one launch", "one didBecomeActive", "one willResignActive", "one didEnterBackground",
                "one suspended", "one willEnterForeground", "one didBecomeActive",
            ]
        )
        await daemon.finish()
    }

    @Test("B02 a launch into the background shows nothing, and ends suspended", arguments: ControlGroups.kinds)
    func backgroundLaunch(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, Self.fast)
        try daemon.launch("one", inBackground: true)
        await daemon.expectState(.suspended, of: "one")
        #expect(!daemon.output.contains("didBecomeActive"))
        try daemon.perform(.launch(identifier: "one", url: "x:y", inBackground: false))
        await daemon.expectOutput("one openURL x:y")
        await daemon.expectState(.active, of: "one")
        await daemon.finish()
    }

    @Test("B05 an open task holds off suspension until it has ended; leaked, it costs the process its life")
    func budget() async throws {
        let daemon = try await Daemon(.group, Self.fast + ["--limit", "budget=300", "--limit", "expiration=1500"])
        try daemon.launch("good", ["--task", "upload", "--end-tasks"])
        try daemon.launch("bad", ["--task", "leak \u{7}"])
        for name in ["good", "bad"] {
            await daemon.expectState(.active, of: name)
            try daemon.perform(.background(identifier: name))
        }
        await daemon.expectOutput("good expire")
        await daemon.expectState(.suspended, of: "good")
        await daemon.expectState(.notRunning, of: "bad")
        let exit = try #require(try daemon.status(of: "bad")?.lastExit)
        #expect(exit.contains("0x2182bad2") && exit.contains("leak ?"))
        await daemon.finish()
    }

    @Test("B05 a callback that takes too long is reported as 0x8badf00d")
    func watchdog() async throws {
        let daemon = try await Daemon(.group, Self.fast + ["--limit", "background=1500"])
        try await daemon.launchInForeground("one", ["--block", "didEnterBackground"])
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectState(.notRunning, of: "one")
        #expect(try daemon.status(of: "one")?.lastExit?.contains("0x8badf00d") == true)
        #expect(try daemon.lines(.log(identifier: "one", count: 100)).contains { $0.contains("0x8badf00d") })
        await daemon.finish()
    }

    @Test("B08 quit ends the callbacks in order; a forced quit kills, and keeps background work away")
    func quit() async throws {
        let daemon = try await Daemon(.group, Self.fast)
        try await daemon.launchInForeground("one")
        try daemon.perform(.quit(identifier: "one", force: false))
        await daemon.expectOutput("one willTerminate")
        await daemon.expectState(.notRunning, of: "one")
        #expect(try daemon.status(of: "one")?.lastExit == "exit status 0")
        try await daemon.launchInForeground("two")
        try daemon.perform(.quit(identifier: "two", force: true))
        await daemon.expectState(.notRunning, of: "two")
        #expect(try daemon.status(of: "two")?.wasForceQuit == true)
        #expect(try daemon.lines(.explain(identifier: "two")).contains { $0.contains("only the user") })
        await daemon.finish()
    }

    @Test("requests for unknown applications and missing programs are refused with a reason")
    func refusals() async throws {
        let daemon = try await Daemon(.group)
        for request: ControlRequest in [
            .foreground(identifier: "x"), .background(identifier: "x"), .quit(identifier: "x", force: true),
            .explain(identifier: "x"), .launch(identifier: "x", url: nil, inBackground: false),
        ] {
            let content = try #require(try daemon.request(request).first)
            guard case .refused(.unknownApplication, let message) = content else {
                Issue.record("\(content)")
                continue
            }
            #expect(message.contains("x"))
        }
        try daemon.perform(.install(identifier: "x", program: ProgramDescription(executable: "/nonexistent")))
        let content = try #require(try daemon.request(.launch(identifier: "x", url: nil, inBackground: false)).first)
        guard case .refused(.failed, let message) = content else {
            Issue.record("\(content)")
            return
        }
        #expect(message.contains("/nonexistent"))
        await daemon.finish()
    }
}
