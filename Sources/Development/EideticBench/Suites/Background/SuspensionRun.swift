import EideticCore
import EideticProbeWords
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle

extension SupervisorRun {
    /// Suspends and continues an application again and again.
    ///
    /// A freeze is measured in the supervisor's code: everything is stopped, the tasks are counted again, and locks
    /// looked for. A suspension is measured from just before the end of the last task, in the application, until the
    /// supervisor has committed it: a message, the freeze, and what follows from it. A wake is measured from the
    /// request of a client until `willEnterForeground` runs on the main actor of the application.
    static func measureSuspension(by supervisor: SupervisorProcess, rounds: Int, with bench: Bench) throws {
        let words = try supervisor.launch("app", arguments: ["--task-in-background"])
        let page = try supervisor.page(of: "app")
        let group = try bareGroup(of: supervisor)
        let channel = SupervisorChannel()
        var (freezes, suspensions, wakes): ([Double], [Double], [Double]) = ([], [], [])
        var (bareFreezes, trips): ([Double], [Double]) = ([], [])
        for round in 0...rounds {
            let bare = group.map { freezeBarely($0) }
            let freeze = try group.map { try freezeAndVerify($0.freezer, page: page) }
            let suspension = try suspend(by: supervisor, page: page, words: words)
            let wake = try continueApplication(by: supervisor, words: words)
            let start = currentTime
            channel.exchangeMessages(count: 1)
            let trip = currentTime - start
            try supervisor.waitForState(.active, of: "app")
            if round == 0 { continue }
            if let freeze { freezes.append(Double(freeze) / 1e6) }
            suspensions.append(Double(suspension) / 1e6)
            wakes.append(Double(wake) / 1e6)
            trips.append(Double(trip) / 1e6)
            if let bare { bareFreezes.append(Double(bare) / 1e6) }
        }
        let bare = ("bare write to cgroup.freeze, and reads of cgroup.events", bareFreezes)
        if group != nil {
            report("freeze + verification", times: freezes, goals: (0.2, 2), baseline: bare, with: bench)
        }
        let trip = ("a round trip over a socket pair", trips)
        report("last task's end → suspended", times: suspensions, goals: (nil, nil), baseline: trip, with: bench)
        report("wake → callback", times: wakes, goals: (0.15, 1), baseline: trip, with: bench)
        try supervisor.perform(.quit(identifier: "app", force: true))
        try supervisor.waitUntilEnded("app")
    }

    private static func report(
        _ name: String,
        times: [Double],
        goals: (median: Double?, last: Double?),
        baseline: (name: String, times: [Double]),
        with bench: Bench
    ) {
        let (samples, others) = (Samples(values: times), Samples(values: baseline.times))
        bench.report(
            BenchmarkCase(name, unit: .milliseconds, goal: goals.median.map { .value($0) }),
            samples: samples,
            baseline: (baseline.name, others)
        )
        bench.report(
            BenchmarkCase("\(name), 99th percentile", unit: .milliseconds, goal: goals.last.map { .value($0) }),
            samples: Samples(values: [samples.percentile(0.99)]),
            baseline: (baseline.name, Samples(values: [others.percentile(0.99)]))
        )
    }

    private static func suspend(
        by supervisor: SupervisorProcess,
        page: SharedPageFile,
        words: SharedWords
    ) throws -> UInt64 {
        let count = page[.suspensionCount] ?? 0
        words[ProbeWord.taskEnd] = 0
        try supervisor.perform(.background(identifier: "app"))
        for _ in 0..<100_000 where words[ProbeWord.taskEnd] == 0 { usleep(100) }
        try wait("the suspension") { page[.suspensionCount] ?? 0 > count }
        return currentTime - words[ProbeWord.taskEnd]
    }

    private static func continueApplication(by supervisor: SupervisorProcess, words: SharedWords) throws -> UInt64 {
        let socket = try supervisor.connect()
        // The connection has been accepted.
        try supervisor.request(.explain(identifier: "app"), on: socket)
        words[ProbeWord.willEnterForeground] = 0
        let start = currentTime
        _ = try socket.send(WireWriter.encode(ControlRequest.foreground(identifier: "app")))
        try wait("willEnterForeground") { words[ProbeWord.willEnterForeground] != 0 }
        return words[ProbeWord.willEnterForeground] - start
    }

    // MARK: Freeze

    /// The freezer of the supervisor, and the two files that a freeze needs at least.
    private struct Group {
        let freezer: GroupFreezer
        let freeze: Int32
        let events: Int32

        init(path: String) throws {
            freezer = try GroupFreezer(existing: path)
            freeze = open("\(path)/cgroup.freeze", O_WRONLY | O_CLOEXEC)
            events = open("\(path)/cgroup.events", O_RDONLY | O_CLOEXEC)
        }
    }

    /// The application's control group; `nil` without one.
    private static func bareGroup(of supervisor: SupervisorProcess) throws -> Group? {
        let process = try supervisor.statuses().first { $0.identifier == "app" }?.process
        guard supervisor.usesGroups, let process, let path = GroupHierarchy.group(of: process) else {
            printError("eidetic-bench: no control group of version 2 can be written; the freeze is not measured")
            return nil
        }
        return try Group(path: path)
    }

    /// Freezes the running application as the supervisor does, and continues it.
    private static func freezeAndVerify(_ freezer: GroupFreezer, page: SharedPageFile) throws -> UInt64 {
        let start = currentTime
        var outcome = FreezeAttempt.begin(freezer, page: page)
        while outcome == .pending { outcome = FreezeAttempt.resume(freezer, page: page) }
        let time = currentTime - start
        freezer.thaw()
        guard outcome == .verified else { throw UsageError(message: "the application cannot be frozen: \(outcome)") }
        return time
    }

    /// Freezes the running application by nothing but the two files, and continues it.
    private static func freezeBarely(_ group: Group) -> UInt64 {
        var text = [UInt8](repeating: 0, count: 64)
        let start = currentTime
        _ = pwrite(group.freeze, "1", 1, 0)
        repeat {
            let count = pread(group.events, &text, text.count, 0)
            // "populated 1", a line break, "frozen 1".
            if count > 19, text[19] == UInt8(ascii: "1") { break }
        } while currentTime - start < 1_000_000_000
        let time = currentTime - start
        _ = pwrite(group.freeze, "0", 1, 0)
        return time
    }
}
