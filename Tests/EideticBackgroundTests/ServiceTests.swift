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

    @Test("B17 a stop that needs 3 s ends well although TimeoutStopSec is 1", .enabled(if: canRun, reason))
    func longStop() async throws {
        let lines = try await ServiceNamespace().run("unit busy '--task up=3000'\nstop busy\n")
        #expect(lines.contains("busy started"))
        #expect(lines.contains("busy Result=success"), "\(lines)")
        #expect(try stopMilliseconds(in: lines, unit: "busy") >= 3_000)
    }

    @Test(
        "B17 without tasks the process has ended less than 50 ms after systemd's signal",
        .enabled(if: canRun, reason),
        .disabled(if: Sanitizer.isActive, "skipped: a sanitizer takes longer than that to end")
    )
    func promptStop() async throws {
        // The best of several stops: what is measured holds on a machine that is busy with other things, too.
        let script = "for round in 1 2 3 4 5 6 7 8; do unit idle ''; said idle 'state active' $round; stop idle; done\n"
        let lines = try await ServiceNamespace().run(script)
        let results = lines.filter { $0.hasPrefix("idle Result=") }
        #expect(results == Array(repeating: "idle Result=success", count: 8), "\(lines)")
        let times = lines.filter { $0.hasPrefix("idle exited after") }.compactMap { Int($0.split(separator: " ")[3]) }
        #expect(times.count == 8)
        #expect(try #require(times.min()) < 50_000, "\(times) us")
    }

    @Test("B17 a bus that goes away is no reason to end, to spin, or to end badly", .enabled(if: canRun, reason))
    func lostBus() async throws {
        let space = try ServiceNamespace()
        let lines = try await space.run(
            """
            systemctl start dbus systemd-logind
            unit held ''
            until login ListInhibitors | grep -q eidetic; do sleep 0.02; done
            systemctl kill -s KILL dbus
            said held 'login manager is gone'
            ticks() { awk '{ print $14 + $15 }' /proc/$(moment held MainPID)/stat; }
            from=$(ticks); sleep 0.5; echo "ticks $(( $(ticks) - from ))"
            stop held

            """
        )
        #expect(lines.contains("held Result=success"), "\(lines) \(space.log(of: "held"))")
        let ticks = try #require(lines.first { $0.hasPrefix("ticks") }, "\(lines)")
        // A thread that spins would have had up to 50.
        #expect(try #require(Int(ticks.dropFirst(6))) < 10)
    }

    @Test(
        "B04 B17 a task that never ends costs the service its good result, and the status names it",
        .enabled(if: canRun, reason)
    )
    func leakyStop() async throws {
        let arguments = "--task upload=-1 --ignore-expiry --grace 500 --expiry-limit 500"
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
        systemctl start dbus systemd-logind
        unit held '\(arguments)'
        until login ListInhibitors | grep -q eidetic; do sleep 0.02; done
        echo inhibited
        from=$(date +%s%N)
        login PowerOff b false
        until [ -e /run/mark ]; do sleep 0.02; done
        echo "held for $(( ($(cat /run/mark) - from) / 1000000 )) ms"

        """
    }

    private func delayPowerOff(arguments: String) async throws -> (milliseconds: Int, output: [String], log: [String]) {
        let space = try ServiceNamespace()
        let lines = try await space.run(Self.script(arguments))
        let line = try #require(lines.first { $0.hasPrefix("held for") }, "\(lines) \(space.log(of: "held"))")
        return (try #require(Int(line.split(separator: " ")[2])), lines, space.log(of: "held"))
    }

    @Test(
        "B19 the machine waits for open tasks, and no longer",
        .enabled(if: ServiceTests.canRun, ServiceTests.reason)
    )
    func waits() async throws {
        let result = try await delayPowerOff(arguments: "--task up=1500")
        #expect(result.output.contains("inhibited"))
        // logind gives up after 5 s; a busy machine is allowed most of that.
        #expect(result.milliseconds >= 1_500 && result.milliseconds < 4_900, "\(result)")
        let done = try #require(result.log.firstIndex(of: "done up"), "\(result.log)")
        #expect(try #require(result.log.firstIndex(of: "didEnterBackground background")) < done)
        #expect(!result.log.contains("expired up"))
    }

    @Test(
        "B19 a task that does not end is expired, and does not hold the machine beyond logind's patience",
        .enabled(if: ServiceTests.canRun, ServiceTests.reason)
    )
    func forced() async throws {
        let result = try await delayPowerOff(arguments: "--task up=-1 --ignore-expiry")
        // Given back at 4.5 s; taken away by logind after 5 s, which it does not come to.
        #expect(result.milliseconds >= 4_000 && result.milliseconds < 15_000, "\(result)")
        #expect(result.log.contains("expired up"))
        #expect(!result.log.contains { $0.contains("killed") })
    }

    @Test(
        "B19 a process that is stopped while the machine wants to sleep is passed over by logind, and goes on after it",
        .enabled(if: ServiceTests.canRun, ServiceTests.reason)
    )
    func takenAway() async throws {
        let space = try ServiceNamespace()
        let lines = try await space.run(
            """
            systemctl start dbus systemd-logind
            unit held '--task up=100'
            until login ListInhibitors | grep -q eidetic; do sleep 0.02; done
            kill -STOP $(moment held MainPID)
            from=$(date +%s%N)
            login Suspend b false
            until [ -e /run/mark ]; do sleep 0.02; done
            echo "held for $(( ($(cat /run/mark) - from) / 1000000 )) ms"
            touch /run/wake
            until busctl get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager \\
                PreparingForSleep | grep -q false; do sleep 0.02; done
            kill -CONT $(moment held MainPID)
            said held 'didBecomeActive active' 2
            echo 'came back'
            stop held

            """
        )
        let line = try #require(lines.first { $0.hasPrefix("held for") }, "\(lines) \(space.log(of: "held"))")
        #expect(try #require(Int(line.split(separator: " ")[2])) >= 4_900)
        #expect(
            lines.contains("came back") && lines.contains("held Result=success"),
            "\(lines) \(space.log(of: "held"))"
        )
    }

    @Test(
        "B19 the machine sleeps when the tasks have ended; when it wakes, the application comes back and holds again",
        .enabled(if: ServiceTests.canRun, ServiceTests.reason)
    )
    func sleepsAndWakes() async throws {
        let space = try ServiceNamespace()
        let lines = try await space.run(
            """
            systemctl start dbus systemd-logind
            unit held '--task up=700'
            until login ListInhibitors | grep -q eidetic; do sleep 0.02; done
            login Suspend b false
            until [ -e /run/mark ]; do sleep 0.02; done
            echo asleep; login ListInhibitors | grep -c eidetic
            grep -c 'done up' $HELD
            touch /run/wake
            said held 'didBecomeActive active' 2
            until login ListInhibitors | grep -q eidetic; do sleep 0.02; done
            echo 'holds again'
            stop held

            """.replacing("$HELD", with: space.logPath(of: "held"))
        )
        let log = space.log(of: "held")
        let asleep = try #require(lines.firstIndex(of: "asleep"), "\(lines) \(log)")
        #expect(lines[(asleep + 1)...].prefix(2) == ["0", "1"], "\(lines)")
        #expect(lines.contains("holds again") && lines.contains("held Result=success"), "\(lines) \(log)")
        let callbacks = log.filter { $0.hasPrefix("did") || $0.hasPrefix("will") || $0.hasPrefix("done") }
        let way = [
            "willResignActive active", "didEnterBackground background", "done up", "willEnterForeground background",
            "didBecomeActive active",
        ]
        #expect(Array(callbacks.dropFirst(3).prefix(5)) == way, "\(callbacks)")
    }

    static let hasSessions = ["/lib/x86_64-linux-gnu/security", "/lib/security", "/lib/aarch64-linux-gnu/security"]
        .contains { access("\($0)/pam_systemd.so", R_OK) == 0 }

    @Test(
        "B20 locking the screen is an interruption, unlocking the way back, whoever locks it",
        .enabled(if: ServiceTests.canRun, ServiceTests.reason),
        .enabled(if: hasSessions, "skipped: libpam-systemd is not installed")
    )
    func lockedScreen() async throws {
        let space = try ServiceNamespace()
        let lines = try await space.run(
            """
            systemctl start dbus systemd-logind
            unit seen '' User=root PAMName=eidetic
            session=$(loginctl list-sessions --no-legend | awk '{ print $1; exit }')
            said seen 'didBecomeActive active'
            until login ListInhibitors | grep -q eidetic; do sleep 0.02; done
            loginctl lock-session $session
            said seen 'state inactive'
            loginctl unlock-session $session
            said seen 'didBecomeActive active' 2
            path=$(busctl --json=short call org.freedesktop.login1 /org/freedesktop/login1 \\
                org.freedesktop.login1.Manager GetSession s $session | sed 's/.*\\[\"\\(.*\\)\"\\].*/\\1/')
            hint() { busctl call org.freedesktop.login1 $path org.freedesktop.login1.Session SetLockedHint b $1; }
            hint true
            said seen 'willResignActive active' 2
            hint false
            said seen 'didBecomeActive active' 3
            echo 'unlocked twice'
            stop seen

            """
        )
        #expect(lines.contains("unlocked twice"), "\(lines) \(space.log(of: "seen"))")
        let callbacks = space.log(of: "seen").filter { $0.hasPrefix("did") || $0.hasPrefix("will") }
        // An interruption is not a way into the background.
        let interruption = ["willResignActive active", "didBecomeActive active"]
        #expect(Array(callbacks.dropFirst(3).prefix(4)) == interruption + interruption, "\(callbacks)")
    }
}
