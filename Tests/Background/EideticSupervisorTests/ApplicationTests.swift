import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

/// Applications that use EideticBackground, under a real supervisor.
@Suite("Applications under the supervisor", .serialized, .timeLimit(.minutes(10)))
struct ApplicationTests {
    private static let fast = ["--limit", "idle=20"]

    /// Starts the probe of EideticBackground as an application.
    private func launch(
        _ identifier: String,
        _ arguments: [String] = [],
        in daemon: Daemon,
        inBackground: Bool = false,
        url: String? = nil
    ) throws {
        var program = ProgramDescription(executable: Daemon.probe)
        program.arguments = ["background"] + arguments
        program.environment = ["PATH=/usr/bin:/bin"]
        try daemon.perform(.install(identifier: identifier, program: program))
        try daemon.perform(.launch(identifier: identifier, url: url, inBackground: inBackground))
    }

    private func callbacks(of daemon: Daemon) -> [String] {
        daemon.output.split(separator: "\n").map(String.init).filter { line in
            ["will", "did", "late", "launched", "open", "notice"].contains { line.hasPrefix($0) }
        }
    }

    @Test("B01 B08 hundreds of changes while the process is frozen are one notice", arguments: ControlGroups.kinds)
    func coalesced(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, Self.fast)
        try daemon.directory.write([], to: "settings/app.conf")
        let settings = daemon.directory.path(of: "settings/app.conf")
        try launch("app", ["--settings", settings, "--observe", "settingsChanged"], in: daemon)
        await daemon.expectOutput("observes settingsChanged")
        await daemon.expectOutput("didBecomeActive")
        try await daemon.suspend("app")
        for number in 0..<Torture.repetitions(200, full: 1_000) {
            try daemon.directory.write(Array("\(number)".utf8), to: "settings/app.conf")
        }
        #expect(!daemon.output.contains("notice"))
        try daemon.perform(.foreground(identifier: "app"))
        await daemon.expectOutput("didBecomeActive active", times: 2)
        let expected =
            ["willFinishLaunching inactive", "didFinishLaunching inactive", "didBecomeActive active"] + [
                "willResignActive active", "didEnterBackground background",
                "notice settingsChanged \(settings) count 1", "willEnterForeground background",
                "didBecomeActive active",
            ]
        #expect(callbacks(of: daemon) == expected)
        await daemon.finish()
    }

    @Test("B02 B16 launched into the background, opened for a URL, ended, and launched again with its saved state")
    func launches() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        try launch("app", ["--open", "x:", "--archive", "page 8"], in: daemon, inBackground: true)
        await daemon.expectOutput("didFinishLaunching background")
        await daemon.expectState(.suspended, of: "app")
        #expect(!daemon.output.contains("didBecomeActive"))
        try daemon.perform(.launch(identifier: "app", url: "x:y", inBackground: false))
        await daemon.expectOutput("open x:y inactive")
        await daemon.expectOutput("didBecomeActive active")
        try daemon.perform(.quit(identifier: "app", force: false))
        await daemon.expectOutput("late begin refused")
        await daemon.expectState(.notRunning, of: "app")
        #expect(try daemon.status(of: "app")?.lastExit?.contains("status 0") == true)
        try daemon.perform(.launch(identifier: "app", url: nil, inBackground: false))
        await daemon.expectOutput("archive page 8")
        await daemon.finish()
    }

    @Test("B08 an application greets the next supervisor, which suspends it", arguments: ControlGroups.kinds)
    func succession(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, Self.fast)
        try launch("app", ["--task", "up=400"], in: daemon)
        await daemon.expectOutput("didBecomeActive active")
        try await daemon.replace()
        // Refused until the application has connected.
        let isAccepted = await daemon.waitForStatuses { _ in
            (try? daemon.request(.background(identifier: "app"))) == [.done]
        }
        #expect(isAccepted)
        await daemon.expectOutput("done up")
        await daemon.expectState(.suspended, of: "app")
        try await daemon.replace()
        await daemon.expectState(.suspended, of: "app")
        try daemon.perform(.foreground(identifier: "app"))
        await daemon.expectOutput("didBecomeActive active", times: 2)
        #expect(callbacks(of: daemon).count { $0.hasPrefix("didEnterBackground") } == 1)
        await daemon.finish()
    }

    @Test("B10 an application that plays audio is not suspended")
    func audio() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        try launch("app", ["--audio"], in: daemon)
        try launch("silent", in: daemon)
        for name in ["app", "silent"] {
            await daemon.expectState(.active, of: name)
            try daemon.perform(.background(identifier: name))
        }
        await daemon.expectState(.suspended, of: "silent")
        await daemon.expectState(.background, of: "app")
        await daemon.finish()
    }

    @Test(
        "B06 an application that is ended while it is suspended is not called, and keeps its saved state",
        arguments: ControlGroups.kinds
    )
    func endedWhileSuspended(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, Self.fast)
        try launch("app", ["--archive", "page 8"], in: daemon)
        await daemon.expectOutput("didBecomeActive active")
        try await daemon.suspend("app")
        await daemon.expectOutput("didEnterBackground background")
        let calls = callbacks(of: daemon)
        #expect(calls.last == "didEnterBackground background")
        try daemon.perform(.quit(identifier: "app", force: false))
        await daemon.expectState(.notRunning, of: "app")
        try daemon.perform(.launch(identifier: "app", url: nil, inBackground: false))
        await daemon.expectOutput("archive page 8")
        await daemon.expectOutput("didBecomeActive active", times: 2)
        // Between the two processes there is no willTerminate.
        #expect(callbacks(of: daemon) == calls + calls.prefix(3))
        await daemon.finish()
    }

    @Test("B03 the background time of a supervised application is 600 s by default, as the application sees it")
    func defaultBudget() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        try launch("app", ["--task", "up=-1"], in: daemon)
        await daemon.expectOutput("didBecomeActive active")
        try daemon.perform(.background(identifier: "app"))
        await daemon.expectState(.background, of: "app")
        await daemon.expectOutput("remaining ")
        let line = daemon.output.split(separator: "\n").first { $0.hasPrefix("remaining ") } ?? ""
        #expect((300...599).contains(try #require(Int(line.dropFirst("remaining ".count)))))
        let remaining = try #require(try daemon.status(of: "app")?.backgroundTimeRemaining)
        #expect(remaining > .seconds(300) && remaining <= .seconds(600))
        await daemon.finish()
    }

    @Test("B06 while four threads begin and end tasks, none is open when willTerminate runs")
    func terminationDuringTasks() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        for round in 0..<Torture.repetitions(10, full: 300) {
            try launch("app", ["--storm", "4"], in: daemon)
            await daemon.expectOutput("didBecomeActive active", times: round + 1)
            try daemon.perform(.quit(identifier: "app", force: false))
            await daemon.expectState(.notRunning, of: "app")
            await daemon.expectOutput("inside 0\n", times: round + 1)
        }
        await daemon.finish()
    }
}
