import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// A process that is stopped in the midst of a limit, by each means that there is.
@Suite("Time in which the process is stopped", .timeLimit(.minutes(2)))
struct StoppedTimeTests {
    /// A means of stopping a process.
    enum Means: String, CaseIterable, Sendable {
        case signal, freezer, unifiedFreezer, debugger

        /// The means that can be used here.
        static let available = allCases.filter { $0.isAvailable }

        /// The freezers of the kernel, which it also uses for the sleep of the machine.
        static let freezers = available.filter { [.freezer, .unifiedFreezer].contains($0) }

        private var isAvailable: Bool {
            switch self {
            case .signal: true
            case .freezer: access("/sys/fs/cgroup/freezer/cgroup.procs", W_OK) == 0
            case .unifiedFreezer:
                ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].contains { access("\($0)/cgroup.procs", W_OK) == 0 }
            case .debugger: Subprocess.executablePath(for: "gdb") != nil
            }
        }

        /// Commands that continue the process `$1`, which has stopped itself, after 2.3 s in which this means stops it.
        var script: String {
            switch self {
            case .signal: "sleep 2.3; kill -CONT $1"
            case .freezer:
                """
                g=/sys/fs/cgroup/freezer/eidetic-$1; mkdir $g; echo $1 > $g/cgroup.procs; echo FROZEN > $g/freezer.state
                kill -CONT $1; sleep 2.3
                echo THAWED > $g/freezer.state
                """
            case .unifiedFreezer:
                """
                for r in /sys/fs/cgroup/unified /sys/fs/cgroup; do test -w $r/cgroup.procs && break; done
                g=$r/eidetic-$1; mkdir $g; echo $1 > $g/cgroup.procs; echo 1 > $g/cgroup.freeze
                kill -CONT $1; sleep 2.3
                echo 0 > $g/cgroup.freeze
                """
            case .debugger:
                "gdb -q -batch -p $1 -ex \"shell kill -CONT $1; sleep 2.3\" -ex detach >/dev/null 2>&1; kill -CONT $1 || :"
            }
        }
    }

    /// The limit that a stop exceeds, in milliseconds.
    private static let limit = "2000"

    /// Waits until the process has stopped itself, and continues it after longer than the limit.
    private func passTime(of probe: ProbeProcess, stoppedBy means: Means) async throws {
        await probe.waitUntilStopped()
        let arguments = ["-c", "set -e; \(means.script)", "sh", "\(probe.process.identifier)"]
        let result = try await Subprocess.run("bash", arguments: arguments)
        #expect(result.status == .exited(0), "\(result.errorText)")
    }

    /// Removes the control group of a process that has ended.
    private func removeGroup(of probe: ProbeProcess) {
        for parent in ["/sys/fs/cgroup/freezer", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"] {
            rmdir("\(parent)/eidetic-\(probe.process.identifier)")
        }
    }

    /// Options with which a callback stops the process, and returns a moment after the stop.
    private static func stop(in callback: String) -> [String] { ["--stop-in", callback, "--hang", "\(callback)=300"] }

    @Test("B05 a callback is not charged for the time in which the process was stopped", arguments: Means.available)
    func callback(_ means: Means) async throws {
        let probe = try ProbeProcess(Self.stop(in: "didEnterBackground") + ["--background-limit", Self.limit])
        await probe.expectOutput("didBecomeActive")
        probe.process.kill(SIGTERM)
        try await passTime(of: probe, stoppedBy: means)
        let end = await probe.finish()
        removeGroup(of: probe)
        #expect(end.status == .exited(0), "\(end.errors)")
    }

    @Test(
        "B05 no callback is charged for it",
        arguments: [
            ("didFinishLaunching", "--launch-limit"), ("didBecomeActive", "--callback-limit"),
            ("willResignActive", "--callback-limit"), ("willEnterForeground", "--callback-limit"),
            ("willTerminate", "--termination-limit"),
        ]
    )
    func eachCallback(name: String, limit: String) async throws {
        let options = Self.stop(in: name) + [limit, Self.limit]
        let probe = try ProbeProcess(["--background", "--foreground"] + options)
        if name == "willTerminate" {
            await probe.expectOutput("didBecomeActive", times: 2)
            probe.process.kill(SIGTERM)
        }
        try await passTime(of: probe, stoppedBy: .signal)
        if name != "willTerminate" {
            await probe.expectOutput("didBecomeActive active", times: 2)
            probe.process.kill(SIGTERM)
        }
        let end = await probe.finish()
        #expect(end.status == .exited(0), "\(end.errors)")
    }

    @Test(
        "B03 budget and grace are not charged for it",
        arguments: [["--background", "--budget", limit], ["--grace", limit]]
    )
    func budget(arguments: [String]) async throws {
        let probe = try ProbeProcess(arguments + Self.timer + ["--task", "up=-1"])
        await probe.expectOutput("didBecomeActive")
        if arguments[0] == "--grace" { probe.process.kill(SIGTERM) }
        try await passTime(of: probe, stoppedBy: .signal)
        await expectTimerFirst(probe, before: "expired up")
    }

    /// A task at whose end the process stops itself, and one that ends after the stop, by a clock that goes on.
    private static let timer = ["--task", "first=100", "--stop-in", "done first", "--task", "timer=2600"]

    /// Expects the end of the timer before another line.
    private func expectTimerFirst(_ probe: ProbeProcess, before line: String) async {
        await probe.expectOutput(line)
        probe.process.kill(SIGKILL)
        let lines = await probe.finish().lines
        let (end, other) = (lines.firstIndex(of: "done timer"), lines.firstIndex(of: line))
        #expect(end.map { $0 < other ?? 0 } ?? false, "\(lines)")
    }

    @Test(
        "B19 a budget is not charged for the time in which the kernel keeps the process frozen, as during a sleep",
        .enabled(if: !Means.freezers.isEmpty, "skipped: needs a freezer of control groups"),
        arguments: Means.freezers
    )
    func frozen(_ means: Means) async throws {
        let budget = ["--background", "--budget", Self.limit]
        let probe = try ProbeProcess(budget + ["--task", "up=-1"] + Self.timer)
        try await passTime(of: probe, stoppedBy: means)
        await expectTimerFirst(probe, before: "expired up")
        removeGroup(of: probe)
    }

    @Test("B04 the limit of expiration handlers is not charged for it")
    func expiration() async throws {
        let probe = try ProbeProcess(
            [
                "--background", "--budget", "100", "--task", "a=-1", "--ignore-expiry", "--stop-in", "expired a",
                "--expiry-limit", Self.limit, "--task", "timer=2600",
            ]
        )
        try await passTime(of: probe, stoppedBy: .signal)
        let end = await probe.finish()
        #expect(end.status == .signalled(SIGKILL))
        #expect(end.lines.contains("done timer"), "\(end.lines)")
    }
}
