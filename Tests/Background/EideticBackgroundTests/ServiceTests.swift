import EideticTestSupport
import Glibc
import Testing

@Suite("Under a real systemd", .serialized, .timeLimit(.minutes(3)))
struct ServiceTests {
    static let obstacle = ServiceNamespace.obstacle
    static let canRun = obstacle == nil
    static var reason: Comment { "skipped: \(obstacle ?? "")" }

    private func stopMilliseconds(in lines: [String], unit: String) throws -> Int {
        let line = try #require(lines.first { $0.hasPrefix("\(unit) stopped in") }, "\(lines)")
        return try #require(Int(line.split(separator: " ")[3]))
    }

    @Test("B17 a stop that needs 3 s succeeds although TimeoutStopSec is 1", .enabled(if: canRun, reason))
    func longStop() async throws {
        let lines = try await ServiceNamespace().run("unit busy '--task up=3000'\nstop busy\n")
        #expect(lines.contains("busy started"))
        #expect(lines.contains("busy Result=success"), "\(lines)")
        #expect(try stopMilliseconds(in: lines, unit: "busy") >= 3_000)
    }

    @Test(
        "B17 without tasks the process exits within 50 ms of systemd's signal",
        .enabled(if: canRun, reason),
        .disabled(if: Sanitizer.isActive, "skipped: a sanitizer takes longer than that to end")
    )
    func promptStop() async throws {
        // The shortest of several stops, because the machine may be busy with other work.
        let script = "for round in 1 2 3 4 5 6 7 8; do unit idle ''; said idle 'state active' $round; stop idle; done\n"
        let lines = try await ServiceNamespace().run(script)
        let results = lines.filter { $0.hasPrefix("idle Result=") }
        #expect(results == Array(repeating: "idle Result=success", count: 8), "\(lines)")
        let times = lines.filter { $0.hasPrefix("idle exited after") }.compactMap { Int($0.split(separator: " ")[3]) }
        #expect(times.count == 8)
        #expect(try #require(times.min()) < 50_000, "\(times) us")
    }

    @Test(
        "B17 after the loss of the bus the process neither exits nor spins, and stops with success",
        .enabled(if: canRun, reason)
    )
    func lostBus() async throws {
        let space = try ServiceNamespace()
        let lines = try await space.run(
            """
            systemctl start dbus systemd-logind
            unit held ''
            until login ListInhibitors | grep -q eidetic; do sleep 0.02; done
            systemctl kill -s KILL dbus
            said held 'lost the connection to logind'
            ticks() { awk '{ print $14 + $15 }' /proc/$(moment held MainPID)/stat; }
            from=$(ticks); sleep 0.5; echo "ticks $(( $(ticks) - from ))"
            stop held

            """
        )
        #expect(lines.contains("held Result=success"), "\(lines) \(space.log(of: "held"))")
        let ticks = try #require(lines.first { $0.hasPrefix("ticks") }, "\(lines)")
        // A spinning thread would use up to 50 ticks.
        #expect(try #require(Int(ticks.dropFirst(6))) < 10)
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
