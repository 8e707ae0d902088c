import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Takeover by another supervisor", .serialized, .timeLimit(.minutes(3)))
struct TakeoverTests {
    private static let fast = ["--limit", "idle=10"]

    @Test("B05 a supervisor that makes its groups elsewhere continues and ends applications of an earlier one")
    func otherHierarchy() async throws {
        guard ControlGroups.unavailability == nil else { try Test.cancel("there are no control groups") }
        let daemon = try await Daemon(.group, Self.fast)
        try await daemon.launchInForeground("one")
        try await daemon.suspend("one")
        await daemon.kill()
        let elsewhere = try #require(daemon.controlGroup) + "-elsewhere"
        try await daemon.start(["--control-group", elsewhere])
        await daemon.expectState(.suspended, of: "one")
        try daemon.perform(.foreground(identifier: "one"))
        await daemon.expectOutput("one didBecomeActive", times: 2)
        try daemon.perform(.quit(identifier: "one", force: true))
        await daemon.expectState(.notRunning, of: "one")
        await daemon.finish()
        rmdir(elsewhere)
    }

    @Test("B05 a process whose record is lost is taken over, not killed")
    func lostRecord() async throws {
        guard ControlGroups.unavailability == nil else { try Test.cancel("there are no control groups") }
        let daemon = try await Daemon(.group, Self.fast)
        let stranger = try Subprocess(
            Daemon.probe,
            arguments: ["supervised", "--name", "stranger", "--identifier", "one"],
            environment: ["EIDETIC_RUNTIME_DIR": daemon.directory.path(of: "run")]
        )
        await daemon.expectState(.active, of: "one")
        await daemon.kill()
        unlink(daemon.directory.path(of: "run/applications/one/record"))
        try await daemon.start()
        await daemon.expectState(.active, of: "one")
        #expect(try daemon.status(of: "one")?.process == stranger.identifier)
        await daemon.finish()
    }

    @Test("B08 an accepted request is carried out by the next supervisor", arguments: ["background", "quit"])
    func intentions(request: String) async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        try await daemon.launchInForeground("one", ["--wait", "willResignActive"])
        try daemon.perform(
            request == "quit" ? .quit(identifier: "one", force: false) : .background(identifier: "one")
        )
        await daemon.expectOutput("one willResignActive")
        try await daemon.replace()
        kill(try #require(try daemon.status(of: "one")?.process), SIGUSR1)
        await daemon.expectState(request == "quit" ? .notRunning : .suspended, of: "one")
        if request == "quit" {
            // Read after the end of the process.
            await daemon.expectOutput("one willTerminate")
        } else {
            #expect(!daemon.output.contains("willTerminate"))
        }
        await daemon.finish()
    }

    @Test("B16 the URL of a launch arrives although the supervisor dies during the launch")
    func url() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        try daemon.install("one", ["--wait", "launch"])
        try daemon.perform(.launch(identifier: "one", url: "x:y", inBackground: false))
        await daemon.expectOutput("one launch")
        try await daemon.replace()
        kill(try #require(try daemon.status(of: "one")?.process), SIGUSR1)
        await daemon.expectOutput("one openURL x:y")
        await daemon.expectState(.active, of: "one")
        await daemon.finish()
    }

    @Test("B01 an application that was continued without a supervisor learns that it was suspended")
    func continuedByEnd() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        try await daemon.launchInForeground("one")
        try await daemon.suspend("one")
        daemon.process.kill(SIGTERM)
        try await daemon.start(afterEnd: true)
        await daemon.expectOutput("one suspended")
        try daemon.perform(.foreground(identifier: "one"))
        await daemon.expectOutput("one didBecomeActive", times: 2)
        await daemon.finish()
    }
}
