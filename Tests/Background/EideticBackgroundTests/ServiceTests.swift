import EideticTestSupport
import Glibc
import Testing

@Suite("Under a real systemd", .serialized, .timeLimit(.minutes(3)))
struct ServiceTests {
    static let obstacle = ServiceNamespace.obstacle
    static let canRun = obstacle == nil
    static var reason: Comment { "skipped: \(obstacle ?? "")" }

    @Test("B17 a stop that needs 2 s succeeds although TimeoutStopSec is 1", .enabled(if: canRun, reason))
    func longStop() async throws {
        let space = try ServiceNamespace()
        let lines = try await space.run("unit busy '--task up=2000'\nstop busy\n")
        #expect(lines.contains("busy started"))
        #expect(lines.contains("busy Result=success"), "\(lines)")
        #expect(space.log(of: "busy").contains("done up"))
    }

    @Test(
        "B17 after the loss of the bus the process closes its connection, goes on, and stops with success",
        .enabled(if: canRun, reason)
    )
    func lostBus() async throws {
        let space = try ServiceNamespace()
        let lines = try await space.run(
            """
            hold ''
            sockets() { ls -l /proc/$(moment held MainPID)/fd | grep -c 'socket:'; }
            before=$(sockets)
            systemctl kill -s KILL dbus
            said held 'lost the connection to logind'
            # A connection that has ended and is not closed would be readable for ever.
            until [ $(sockets) -lt $before ]; do sleep 0.02; done
            echo closed
            stop held

            """
        )
        #expect(lines.contains("closed") && lines.contains("held Result=success"), "\(lines) \(space.log(of: "held"))")
    }

    @Test(
        "B04 B17 a task that never ends makes the stop fail, and the status names it",
        .enabled(if: canRun, reason)
    )
    func leakyStop() async throws {
        let arguments = "--task upload=-1 --ignore-expiry --grace 500 --expiry-limit 500"
        let lines = try await ServiceNamespace().run("unit leaky '\(arguments)'\nstop leaky\n")
        #expect(lines.contains("leaky Result=signal"), "\(lines)")
        #expect(lines.contains { $0.contains("0x2182bad2") && $0.contains("open tasks: upload") }, "\(lines)")
    }
}
