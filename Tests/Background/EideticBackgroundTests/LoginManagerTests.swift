import EideticTestSupport
import Glibc
import Testing

@Suite("With a real logind", .serialized, .timeLimit(.minutes(3)))
struct LoginManagerTests {
    /// Powers off through logind with open tasks; returns the number of inhibitors of the application at the moment at
    /// which the machine goes off, and the application's output.
    private func powerOff(arguments: String) async throws -> (inhibitors: Int, log: [String]) {
        let space = try ServiceNamespace()
        let script = """
            hold '\(arguments)'
            login PowerOff b false
            until [ -e /run/mark ]; do sleep 0.02; done
            echo "inhibitors $(cat /run/mark)"

            """
        let lines = try await space.run(script)
        let count = lines.lazy.compactMap { $0.number(after: "inhibitors ") }.first
        return (try #require(count, "\(lines) \(space.log(of: "held"))"), space.log(of: "held"))
    }

    @Test(
        "B19 the machine waits until open tasks have ended",
        .enabled(if: ServiceTests.canRun, ServiceTests.reason)
    )
    func waits() async throws {
        let result = try await powerOff(arguments: "--task up=1000")
        // logind has not gone on by itself, with the inhibitor held.
        #expect(result.inhibitors == 0, "\(result)")
        let done = try #require(result.log.firstIndex(of: "done up"), "\(result.log)")
        #expect(try #require(result.log.firstIndex(of: "didEnterBackground background")) < done)
        #expect(!result.log.contains("expired up"))
    }

    @Test(
        "B19 a task that does not end expires, and the machine is released before logind goes on by itself",
        .enabled(if: ServiceTests.canRun, ServiceTests.reason)
    )
    func forced() async throws {
        let result = try await powerOff(arguments: "--task up=-1 --ignore-expiry")
        #expect(result.inhibitors == 0 && result.log.contains("expired up"), "\(result)")
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
            hold '--task up=100'
            kill -STOP $(moment held MainPID)
            login Suspend b false
            until [ -e /run/mark ]; do sleep 0.02; done
            echo "inhibitors $(login ListInhibitors | grep -c eidetic)"
            touch /run/wake
            until busctl get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager \\
                PreparingForSleep | grep -q false; do sleep 0.02; done
            kill -CONT $(moment held MainPID)
            said held 'didBecomeActive active' 2
            echo 'came back'
            stop held

            """
        )
        // The inhibitor is held still.
        #expect(lines.contains("inhibitors 1"), "\(lines) \(space.log(of: "held"))")
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
            hold '--task up=700'
            login Suspend b false
            until [ -e /run/mark ]; do sleep 0.02; done
            echo asleep; login ListInhibitors | grep -c eidetic
            grep -c 'done up' $HELD
            touch /run/wake
            said held 'didBecomeActive active' 2
            inhibited
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
            inhibited
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
