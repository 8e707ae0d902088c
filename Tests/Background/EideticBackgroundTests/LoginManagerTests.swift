import EideticTestSupport
import Glibc
import Testing

@Suite("With a real logind", .serialized, .timeLimit(.minutes(3)))
struct LoginManagerTests {
    /// Returns a script that powers off through logind, and prints the delay in milliseconds.
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
        "B19 the machine waits until open tasks have ended, and no longer",
        .enabled(if: ServiceTests.canRun, ServiceTests.reason)
    )
    func waits() async throws {
        let result = try await delayPowerOff(arguments: "--task up=1500")
        #expect(result.output.contains("inhibited"))
        // logind waits for 5 s; a busy machine is allowed most of that.
        #expect(result.milliseconds >= 1_500 && result.milliseconds < 4_900, "\(result)")
        let done = try #require(result.log.firstIndex(of: "done up"), "\(result.log)")
        #expect(try #require(result.log.firstIndex(of: "didEnterBackground background")) < done)
        #expect(!result.log.contains("expired up"))
    }

    @Test(
        "B19 a task that does not end expires, and does not delay the machine beyond logind's limit",
        .enabled(if: ServiceTests.canRun, ServiceTests.reason)
    )
    func forced() async throws {
        let result = try await delayPowerOff(arguments: "--task up=-1 --ignore-expiry")
        // The application releases the inhibitor at 4.5 s, before logind overrides it after 5 s.
        #expect(result.milliseconds >= 4_000 && result.milliseconds < 15_000, "\(result)")
        #expect(result.log.contains("expired up"))
        #expect(!result.log.contains { $0.contains("killed") })
    }

    @Test(
        "B19 logind does not wait for a stopped process beyond its limit, and the process resumes after the sleep",
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
        "B19 the machine sleeps when the tasks have ended, and on waking the application is active and delays sleep again",
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
        "B20 locking the screen makes the application inactive, unlocking active, for each way of locking",
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
        // An interruption does not lead into the background.
        let interruption = ["willResignActive active", "didBecomeActive active"]
        #expect(Array(callbacks.dropFirst(3).prefix(4)) == interruption + interruption, "\(callbacks)")
    }
}
