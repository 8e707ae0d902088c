import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Messages of servers when the supervisor is killed", .serialized, .timeLimit(.minutes(1)))
struct MessageRecoveryTests {
    @Test(
        "B13 a message that was accepted, and that the application has not received, comes from the next supervisor",
        arguments: ControlGroups.kinds
    )
    func accepted(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, ["--limit", "idle=20"])
        try await daemon.launchInForeground("one", ["--wait", "didEnterBackground"])
        let process = try #require(try daemon.status(of: "one")?.process)
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectOutput("one didEnterBackground\n")
        // The application is in a callback, so the message waits for it in the record.
        try daemon.perform(.push(identifier: "one", payload: Array(#"{"content-available":1}"#.utf8)))
        await daemon.kill()
        kill(process, SIGKILL)
        try await daemon.start()
        await daemon.expectOutput("one wake push")
        // It does not complete the wake.
        await daemon.expectState(.background, of: "one")
        #expect(daemon.output.ranges(of: "one wake push").count == 1)
        await daemon.finish()
    }
}
