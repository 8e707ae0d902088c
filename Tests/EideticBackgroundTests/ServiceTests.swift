import EideticTestSupport
import Glibc
import Testing

@Suite("Under a real systemd", .serialized, .timeLimit(.minutes(3)))
struct ServiceTests {
    static let obstacle = ServiceNamespace.obstacle
    static let canRun = obstacle == nil
    static var reason: Comment { "skipped: \(obstacle ?? "")" }

    private func milliseconds(_ lines: [String], _ unit: String) throws -> Int {
        let line = try #require(lines.first { $0.hasPrefix("\(unit) stopped in") }, "\(lines)")
        return try #require(Int(line.split(separator: " ")[3]))
    }

    @Test("B17 a stop that needs 3 s ends well although TimeoutStopSec is 1", .enabled(if: canRun, reason))
    func longStop() async throws {
        let lines = try await ServiceNamespace().run("unit busy '--task up=3000'\nstop busy\n")
        #expect(lines.contains("busy started"))
        #expect(lines.contains("busy Result=success"), "\(lines)")
        #expect(try milliseconds(lines, "busy") >= 3_000)
    }

    @Test("B17 without tasks the process is gone at once", .enabled(if: canRun, reason))
    func promptStop() async throws {
        let lines = try await ServiceNamespace().run("unit idle ''\nstop idle\n")
        #expect(lines.contains("idle started") && lines.contains("idle Result=success"), "\(lines)")
        // The process itself takes 3 to 10 ms; what is measured here is systemd's whole job on a busy machine.
        #expect(try milliseconds(lines, "idle") < 1_000)
    }

    @Test(
        "B04 B17 a task that never ends costs the service its good result, and the status names it",
        .enabled(if: canRun, reason)
    )
    func leakyStop() async throws {
        let arguments = "--task upload=-1 --ignore-expiry --grace 1500 --limits 500"
        let lines = try await ServiceNamespace().run("unit leaky '\(arguments)'\nstop leaky\n")
        #expect(lines.contains("leaky Result=signal"), "\(lines)")
        #expect(lines.contains { $0.contains("0x2182bad2") && $0.contains("open tasks: upload") }, "\(lines)")
    }
}

@Suite("With a real logind", .serialized, .timeLimit(.minutes(3)))
struct LoginManagerTests {
    /// Asks logind to power off, and says after how many milliseconds it does.
    private static func script(_ arguments: String) -> String {
        """
        systemctl start dbus
        systemctl start systemd-logind
        unit held '\(arguments)'
        until busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager ListInhibitors \\
            | grep -q eidetic; do sleep 0.02; done
        echo inhibited
        from=$(date +%s%N)
        busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager PowerOff b false
        until [ -e /run/mark ]; do sleep 0.02; done
        echo "held for $(( ($(cat /run/mark) - from) / 1000000 )) ms"

        """
    }

    private func held(_ arguments: String) async throws -> (milliseconds: Int, output: [String], log: [String]) {
        let space = try ServiceNamespace()
        let lines = try await space.run(Self.script(arguments))
        let line = try #require(lines.first { $0.hasPrefix("held for") }, "\(lines) \(space.log("held"))")
        return (try #require(Int(line.split(separator: " ")[2])), lines, space.log("held"))
    }

    @Test(
        "B19 the machine waits for open tasks, and no longer",
        .enabled(if: ServiceTests.canRun, ServiceTests.reason)
    )
    func waits() async throws {
        let result = try await held("--task up=1500")
        #expect(result.output.contains("inhibited"))
        #expect(result.milliseconds >= 1_500 && result.milliseconds < 4_000, "\(result)")
        let done = try #require(result.log.firstIndex(of: "done up"), "\(result.log)")
        #expect(try #require(result.log.firstIndex(of: "didEnterBackground background")) < done)
        #expect(!result.log.contains("expired up"))
    }

    @Test(
        "B19 a task that does not end is expired, and does not hold the machine beyond logind's patience",
        .enabled(if: ServiceTests.canRun, ServiceTests.reason)
    )
    func forced() async throws {
        let result = try await held("--task up=-1 --ignore-expiry")
        #expect(result.milliseconds >= 4_000 && result.milliseconds < 6_000, "\(result)")
        #expect(result.log.contains("expired up"))
    }
}
