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
            case .debugger: ("gdb -q -batch -p $1 -ex 'shell sleep 3' -ex detach >/dev/null 2>&1", ":")
            }
        }
    }

    /// Stops the process for 3 s.
    private func stop(_ probe: ProbeProcess, by means: Means) async throws {
        let script = "\(means.commands.stop); \(means == .debugger ? ":" : "sleep 3"); \(means.commands.resume)"
        let arguments = ["-c", "set -e; \(script)", "sh", "\(probe.process.identifier)"]
        let result = try await Subprocess.run("bash", arguments: arguments)
        #expect(result.status == .exited(0), "\(result.errorText)")
    }

    @Test("B05 a callback is not charged for the time in which the process was stopped", arguments: Means.available)
    func callback(_ means: Means) async throws {
        let arguments = ["--work", "didEnterBackground=300", "--background-limit", "2000"]
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
        let probe = try ProbeProcess(["--background", "--foreground", "--work", "\(name)=300", limit, "2000"])
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
        arguments: [["--background", "--budget", "2500"], ["--grace", "2500"]]
    )
    func budget(arguments: [String]) async throws {
        let probe = try ProbeProcess(arguments + ["--task", "up=-1"])
        await probe.expectOutput("didBecomeActive")
        if arguments[0] == "--grace" { probe.process.kill(SIGTERM) }
        await probe.expectOutput("didEnterBackground")
        try await stop(probe, by: .signal)
        let clock = ContinuousClock()
        let continued = clock.now
        #expect(!probe.process.outputSoFar.contains("expired"))
        await probe.expectOutput("expired up")
        #expect(clock.now - continued > .seconds(1))
        probe.process.kill(SIGKILL)
    }

    @Test(
        "B19 a budget is not charged for the time in which the kernel keeps the process frozen, as during a sleep",
        .enabled(if: !Means.freezers.isEmpty, "skipped: needs a freezer of control groups"),
        arguments: Means.freezers
    )
    func frozen(_ means: Means) async throws {
        let probe = try ProbeProcess(["--background", "--budget", "2500", "--task", "up=-1"])
        await probe.expectOutput("didEnterBackground")
        try await stop(probe, by: means)
        let clock = ContinuousClock()
        let continued = clock.now
        #expect(!probe.process.outputSoFar.contains("expired"))
        await probe.expectOutput("expired up")
        #expect(clock.now - continued > .seconds(1))
        probe.process.kill(SIGKILL)
    }

    @Test("B04 the limit of expiration handlers is not charged for it")
    func expiration() async throws {
        let probe = try ProbeProcess([
            "--background", "--budget", "100", "--task", "a=-1", "--ignore-expiry", "--expiry-limit", "2000",
        ])
        await probe.expectOutput("expired a")
        try await stop(probe, by: .signal)
        let clock = ContinuousClock()
        let continued = clock.now
        #expect(await probe.finish().status == .signalled(SIGKILL))
        #expect(clock.now - continued > .milliseconds(800))
    }
}
