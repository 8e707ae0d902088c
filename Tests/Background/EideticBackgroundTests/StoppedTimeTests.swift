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

        /// Commands that stop and continue the process `$1`.
        var commands: (stop: String, resume: String) {
            switch self {
            case .signal: ("kill -STOP $1", "kill -CONT $1")
            case .freezer:
                (
                    "g=/sys/fs/cgroup/freezer/eidetic-$1; mkdir $g; echo $1 > $g/cgroup.procs; echo FROZEN > $g/freezer.state",
                    "echo THAWED > $g/freezer.state; echo $1 > $g/../cgroup.procs; rmdir $g"
                )
            case .unifiedFreezer:
                (
                    """
                    for r in /sys/fs/cgroup/unified /sys/fs/cgroup; do test -w $r/cgroup.procs && break; done
                    g=$r/eidetic-$1; mkdir $g; echo $1 > $g/cgroup.procs; echo 1 > $g/cgroup.freeze
                    """, "echo 0 > $g/cgroup.freeze; echo $1 > $r/cgroup.procs; rmdir $g"
                )
            // The debugger attaches, and waits for its input to end.
            case .debugger: ("gdb -q -batch -p $1 -ex 'shell sleep 2.3' -ex detach >/dev/null 2>&1", ":")
            }
        }
    }

    /// The limit that a stop exceeds, in milliseconds.
    private static let limit = "2000"

    /// The milliseconds from the beginning of a limit to a moment after the stop, by a clock that goes on meanwhile.
    private static let afterStop = "2600"

    /// Stops the process for longer than the limit.
    private func stop(_ probe: ProbeProcess, by means: Means) async throws {
        let script = "\(means.commands.stop); \(means == .debugger ? ":" : "sleep 2.3"); \(means.commands.resume)"
        let arguments = ["-c", "set -e; \(script)", "sh", "\(probe.process.identifier)"]
        let result = try await Subprocess.run("bash", arguments: arguments)
        #expect(result.status == .exited(0), "\(result.errorText)")
    }

    @Test("B05 a callback is not charged for the time in which the process was stopped", arguments: Means.available)
    func callback(_ means: Means) async throws {
        let hang = "didEnterBackground=\(Self.afterStop)"
        let arguments = ["--hang", hang, "--background-limit", Self.limit]
        let probe = try ProbeProcess(arguments)
        await probe.expectOutput("didBecomeActive")
        probe.process.kill(SIGTERM)
        await probe.expectOutput("didEnterBackground")
        try await stop(probe, by: means)
        let end = await probe.finish()
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
        let hang = ["--hang", "\(name)=\(Self.afterStop)", limit, Self.limit]
        let probe = try ProbeProcess(["--background", "--foreground"] + hang)
        if name == "willTerminate" {
            await probe.expectOutput("didBecomeActive", times: 2)
            probe.process.kill(SIGTERM)
        }
        await probe.expectOutput(name)
        try await stop(probe, by: .signal)
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
        await probe.expectOutput("didEnterBackground")
        try await stop(probe, by: .signal)
        await expectTimerFirst(probe, before: "expired up")
    }

    /// A task that ends after the stop, and after the end of a limit that the stop is charged to.
    private static let timer = ["--task", "timer=\(afterStop)"]

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
        await probe.expectOutput("didEnterBackground")
        try await stop(probe, by: means)
        await expectTimerFirst(probe, before: "expired up")
    }

    @Test("B04 the limit of expiration handlers is not charged for it")
    func expiration() async throws {
        let probe = try ProbeProcess(
            [
                "--background", "--budget", "100", "--task", "a=-1", "--ignore-expiry", "--expiry-limit",
                Self.limit,
            ] + Self.timer
        )
        await probe.expectOutput("expired a")
        try await stop(probe, by: .signal)
        let end = await probe.finish()
        #expect(end.status == .signalled(SIGKILL))
        #expect(end.lines.contains("done timer"), "\(end.lines)")
    }
}
