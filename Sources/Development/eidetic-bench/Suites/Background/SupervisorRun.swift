import EideticCore
import EideticProbeWords
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle

/// Measures a real supervisor with real applications.
///
/// What competes for the processors delays every step; on a busy machine, `chrt --fifo 1` measures without that.
enum SupervisorRun {
    static func measure(with bench: Bench) async throws {
        let supervisor = try await SupervisorProcess()
        let rounds = try bench.integer(named: "rounds", default: 1_000, quick: 50)
        try measureSuspension(by: supervisor, rounds: rounds, with: bench)
        try await measurePairs(by: supervisor, with: bench)
        let launches = try bench.integer(named: "launches", default: 100, quick: 10)
        try measureLaunches(by: supervisor, count: launches, with: bench)
        try measureIdleness(
            of: supervisor,
            seconds: try bench.integer(named: "seconds", default: 60, quick: 10),
            with: bench
        )
        try await supervisor.finish()
    }

    /// The time in nanoseconds of `CLOCK_MONOTONIC`, as applications record it.
    static var currentTime: UInt64 { UInt64(SystemTime().uptime.inNanoseconds) }

    /// Waits actively, as a process that sleeps would be measured too.
    static func wait(_ what: String, until condition: () -> Bool) throws {
        let end = currentTime + 10_000_000_000
        while !condition() {
            guard currentTime < end else { throw UsageError(message: "\(what) does not come") }
            sched_yield()
        }
    }

    // MARK: Background tasks

    private static func measurePairs(by supervisor: SupervisorProcess, with bench: Bench) async throws {
        let words = try supervisor.launch("pairs", arguments: ["--measure-pairs"])
        guard await supervisor.process.waitForOutput("measured pairs", limit: .seconds(3_600)) else {
            throw UsageError(message: "the application has ended")
        }
        func samples(isSupervised: Bool) -> Samples {
            Samples(
                values: (1..<ProbeWord.pairSamples).map {
                    Double(words[ProbeWord.pairs($0, isSupervised: isSupervised)]) / 1e3
                }
            )
        }
        bench.report(
            BenchmarkCase("begin + end in a supervised application", unit: .nanoseconds, goal: .ratio(1.25)),
            samples: samples(isSupervised: true),
            baseline: ("without a supervisor, in the same process", samples(isSupervised: false))
        )
        try supervisor.perform(.quit(identifier: "pairs", force: true))
        try supervisor.waitUntilEnded("pairs")
    }

    // MARK: Launch

    private static func measureLaunches(by supervisor: SupervisorProcess, count: Int, with bench: Bench) throws {
        let words = try supervisor.install("launch", arguments: ["--exit-after-launch"])
        var (ours, theirs): ([Double], [Double]) = ([], [])
        for round in 0...count {
            let socket = try supervisor.connect()
            words[ProbeWord.didFinishLaunching] = 0
            let start = currentTime
            try supervisor.perform(.launch(identifier: "launch", url: nil, inBackground: false), on: socket)
            try wait("didFinishLaunching") { words[ProbeWord.didFinishLaunching] != 0 }
            let own = Double(words[ProbeWord.didFinishLaunching] - start) / 1e6
            try supervisor.waitUntilEnded("launch")
            let bare = try MeasuredProcess.run(["/bin/true"]).seconds * 1e3
            // The first round fills the caches.
            if round > 0 {
                ours.append(own)
                theirs.append(bare)
            }
        }
        bench.report(
            BenchmarkCase("cold launch → didFinishLaunching", unit: .milliseconds, goal: .value(10)),
            samples: Samples(values: ours),
            baseline: ("fork + exec of /bin/true", Samples(values: theirs))
        )
    }

    // MARK: Idle

    /// Watches the supervisor while one application is active and another one suspended, both without work.
    private static func measureIdleness(of supervisor: SupervisorProcess, seconds: Int, with bench: Bench) throws {
        for name in ["active", "suspended"] { _ = try supervisor.launch(name) }
        try supervisor.perform(.background(identifier: "suspended"))
        try supervisor.waitForState(.suspended, of: "suspended")
        let sleeper = try Subprocess("/bin/sleep", arguments: ["1000"])
        // The connections of this client are closed, and ended processes removed meanwhile.
        sleep(3)
        let identifiers = [supervisor.process.identifier, sleeper.identifier]
        let before = identifiers.map { contextSwitches(of: $0) }
        sleep(UInt32(seconds))
        let counts = zip(identifiers, before).map { Double(contextSwitches(of: $0) - $1) * 60 / Double(seconds) }
        bench.report(
            BenchmarkCase("wake-ups of the idle supervisor in a minute", unit: .count, goal: .value(6)),
            samples: Samples(values: [counts[0]]),
            baseline: ("sleep", Samples(values: [counts[1]]))
        )
        let memory = identifiers.map { residentMemory(of: $0) }
        bench.report(
            BenchmarkCase("resident memory of the supervisor", unit: .bytes, goal: .value(10 * 1_048_576)),
            samples: Samples(values: [memory[0]]),
            baseline: ("sleep", Samples(values: [memory[1]]))
        )
        sleeper.kill()
    }

    /// The number of times that the threads of a process have begun to wait.
    static func contextSwitches(of process: Int32) -> Int {
        KernelFile.names(in: "/proc/\(process)/task").flatMap { thread in
            (KernelFile.read("/proc/\(process)/task/\(thread)/status") ?? "").split(separator: "\n")
                .filter { $0.hasPrefix("voluntary_ctxt_switches:") }.compactMap { Int($0.filter(\.isNumber)) }
        }.reduce(0, +)
    }

    private static func residentMemory(of process: Int32) -> Double {
        let status = KernelFile.read("/proc/\(process)/status") ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return 1_024 * (Double(line.filter(\.isNumber)) ?? .nan)
    }
}
