import EideticCore
import EideticLifecycle
import EideticSupervisor
import EideticTestSupport
import EideticSupervision
import Glibc

/// Measures what costs nothing unless a loop runs without waiting: applications and a supervisor in situations in which
/// nothing can be done, and the end of an application without tasks.
enum QuietRun {
    /// Measures an application without a supervisor beside a program that only uses Swift's concurrency.
    static func measureApplication(seconds: Int, with bench: Bench) async throws {
        try await measureEnds(count: 20, with: bench)
        for options in [[], ["--background"]] {
            let probe = try await start(
                "background",
                arguments: options,
                until: options.isEmpty ? "state active" : "state background"
            )
            let idleProgram = try await start("idle", until: "idle")
            // Not the launch itself.
            sleep(2)
            let identifiers = [probe.identifier, idleProgram.identifier]
            let before = identifiers.map { SupervisorRun.contextSwitches(of: $0) }
            sleep(UInt32(seconds))
            let counts = zip(identifiers, before).map {
                Double(SupervisorRun.contextSwitches(of: $0) - $1) * 60 / Double(seconds)
            }
            let place = options.isEmpty ? "foreground" : "background"
            bench.report(
                BenchmarkCase(
                    "wake-ups of an idle application in the \(place) in a minute",
                    unit: .count,
                    goal: .ratio(1.15)
                ),
                samples: Samples(values: [counts[0]]),
                baseline: ("a Swift program that only waits", Samples(values: [counts[1]]))
            )
        }
    }

    private static func start(
        _ program: String,
        arguments: [String] = [],
        until line: String
    ) async throws -> Subprocess {
        let path = try MeasuredProcess.path(ofProgramBesideThis: "eidetic-probe")
        let probe = try Subprocess(path, arguments: [program] + arguments, environment: ["NOTIFY_SOCKET": nil])
        guard await probe.waitForOutput(line) else {
            throw UsageError(message: "the program \(program) does not start: \(probe.errorsSoFar)")
        }
        return probe
    }

    private static func measureEnds(count: Int, with bench: Bench) async throws {
        var (ours, theirs): ([Double], [Double]) = ([], [])
        for _ in 0..<count {
            for (program, isOwn) in [
                (try await start("background", until: "state active"), true),
                (try Subprocess("/bin/sleep", arguments: ["9"]), false),
            ] {
                let time = await Bench.seconds {
                    program.kill(SIGTERM)
                    _ = await program.waitUntilExit()
                }
                if isOwn { ours.append(time * 1e3) } else { theirs.append(time * 1e3) }
            }
        }
        bench.report(
            BenchmarkCase("SIGTERM → exit without tasks", unit: .milliseconds, goal: .value(50)),
            samples: Samples(values: ours),
            baseline: ("sleep", Samples(values: theirs))
        )
    }

    /// Measures a supervisor that one application floods, that has no descriptors, and that is gone.
    static func measureSupervisor(seconds: Int, with bench: Bench) async throws {
        let supervisor = try await SupervisorProcess(messageRate: 32)
        let identifier = supervisor.process.identifier
        try supervisor.launch(
            "eidetic-probe",
            as: "flood",
            arguments: ["supervised", "--name", "flood", "--flood", "10000000"]
        )
        guard await supervisor.process.waitForOutput("flood welcome") else {
            throw UsageError(message: "the application does not connect")
        }
        report("of the supervisor while an application floods", of: identifier, seconds: seconds, with: bench)
        try supervisor.perform(.quit(identifier: "flood", force: true))
        try supervisor.waitUntilEnded("flood")
        try await measureWithoutDescriptors(supervisor, seconds: seconds, with: bench)
        try await measureOrphan(of: supervisor, seconds: seconds, with: bench)
        try await supervisor.finish()
    }

    private static func measureWithoutDescriptors(
        _ supervisor: SupervisorProcess,
        seconds: Int,
        with bench: Bench
    ) async throws {
        let identifier = supervisor.process.identifier
        func limitFiles(to count: Int) async throws {
            _ = try await Subprocess.run("prlimit", arguments: ["--pid", "\(identifier)", "--nofile=\(count):"])
        }
        try await limitFiles(to: 3)
        let waiting = try supervisor.connect()
        report(
            "of the supervisor while a connection waits for a descriptor",
            of: identifier,
            seconds: seconds,
            with: bench
        )
        try await limitFiles(to: 1_024)
        withExtendedLifetime(waiting) {}
    }

    /// Measures an application in a callback that lasts when its supervisor is gone for good; ends the supervisor.
    private static func measureOrphan(of supervisor: SupervisorProcess, seconds: Int, with bench: Bench) async throws {
        let arguments = ["background", "--hang", "didEnterBackground=3600000", "--reconnect-limit", "50"]
        try supervisor.launch("eidetic-probe", as: "orphan", arguments: arguments)
        try supervisor.waitForState(.active, of: "orphan")
        let process = try supervisor.statuses().first { $0.identifier == "orphan" }?.process
        try supervisor.perform(.background(identifier: "orphan"))
        guard let process, await supervisor.process.waitForOutput("didEnterBackground") else {
            throw UsageError(message: "the application does not enter the background")
        }
        supervisor.process.kill()
        report("of an application in a callback without its supervisor", of: process, seconds: seconds, with: bench)
        kill(process, SIGKILL)
    }

    private static func report(_ name: String, of process: Int32, seconds: Int, with bench: Bench) {
        let sleeper = try? Subprocess("/bin/sleep", arguments: ["1000"])
        let before = ticks(of: process)
        sleep(UInt32(seconds))
        let share = (ticks(of: process) - before) / Double(sysconf(Int32(_SC_CLK_TCK))) / Double(seconds)
        bench.report(
            BenchmarkCase("processor time \(name)", unit: .fraction, goal: .value(0.05)),
            samples: Samples(values: [share]),
            baseline: ("sleep", Samples(values: [sleeper.map { ticks(of: $0.identifier) } ?? .nan]))
        )
    }

    private static func ticks(of process: Int32) -> Double {
        ProcessStatus(of: process).map { Double($0.ticks) } ?? .nan
    }
}
