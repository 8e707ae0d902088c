import EideticBackground
import EideticCore
import EideticSupervision
import Glibc
import Synchronization

extension Suite {
    /// The cost of a background task, which delays suspension around a piece of work, and that of a supervisor.
    static let background = Suite(
        "background",
        summary: "background tasks; suspension, waking, launch and idle costs with a real supervisor",
        arguments: [
            "rounds=1000  the number of suspensions", "launches=100  the number of launches",
            "seconds=60  the time for which idle processes are watched",
        ]
    ) { bench in
        let application = Application()
        let counter = Atomic<UInt64>(0)
        let pairs = 1_000
        await bench.compare(
            BenchmarkCase("begin + end, against one atomic addition", unit: .nanoseconds, goal: .ratio(20)),
            operations: pairs,
            with: "Atomic<UInt64>.add",
            ours: { beginAndEndTasks(in: application, count: pairs) },
            theirs: { for _ in 0..<pairs { counter.add(1, ordering: .sequentiallyConsistent) } }
        )
        let shared = SharedTable()
        await bench.compare(
            BenchmarkCase(
                "begin + end on a page that a supervisor reads, against one atomic addition",
                unit: .nanoseconds,
                goal: .ratio(20)
            ),
            operations: pairs,
            with: "Atomic<UInt64>.add",
            ours: { for _ in 0..<pairs { shared.table.end(shared.table.begin("bench", handler: .anyThread {})) } },
            theirs: { for _ in 0..<pairs { counter.add(1, ordering: .sequentiallyConsistent) } }
        )
        let messages = SupervisorChannel()
        await bench.compare(
            BenchmarkCase("begin + end, against a message for each", unit: .nanoseconds, goal: .ratio(0.05)),
            operations: pairs,
            with: "two round trips over a socket pair, to a thread that answers",
            ours: { beginAndEndTasks(in: application, count: pairs) },
            theirs: { for _ in 0..<pairs { messages.exchangeMessages(count: 2) } }
        )
        for threads in [1, 2, 4, 8] {
            await bench.measure(
                BenchmarkCase(
                    "begin + end on \(threads) thread\(threads == 1 ? "" : "s") at once, for each",
                    unit: .nanoseconds
                ),
                operations: 20 * pairs
            ) { await runConcurrently(threads: threads) { beginAndEndTasks(in: application, count: 20 * pairs) } }
        }
        try await SupervisorRun.measure(with: bench)
        let seconds = try bench.integer(named: "seconds", default: 60, quick: 10)
        try await QuietRun.measureApplication(seconds: seconds, with: bench)
        try await QuietRun.measureSupervisor(seconds: min(seconds, 10), with: bench)
    }

    private static func beginAndEndTasks(in application: Application, count: Int) {
        for _ in 0..<count {
            application.endBackgroundTask(application.beginBackgroundTask(named: "bench") {})
        }
    }

    /// Runs `body` on several threads concurrently and waits until all have ended.
    private static func runConcurrently(threads count: Int, body: @escaping @Sendable () -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        Thread.start(name: "bench") {
                            body()
                            continuation.resume()
                        }
                    }
                }
            }
        }
    }
}

/// A table of tasks whose count is published on a page of a file.
private final class SharedTable: Sendable {
    let table = BackgroundTaskTable {}

    init() {
        let path = "/tmp/eidetic-bench-page-\(getpid())"
        defer { unlink(path) }
        guard let file = try? SharedPageFile.create(at: path, generation: 1, token: []),
            let page = try? SharedPage(mapping: file.descriptor)
        else { preconditionFailure("cannot create \(path)") }
        table.attach(page)
    }
}

/// A thread that acknowledges a message for each start and end of a task, as a supervisor process at its fastest.
final class SupervisorChannel: Sendable {
    private let end: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        precondition(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0, "no socket pair")
        end = ends[0]
        let supervisorEnd = ends[1]
        Thread.start(name: "supervisor") {
            var bytes: UInt64 = 0
            while read(supervisorEnd, &bytes, 8) == 8 { _ = write(supervisorEnd, &bytes, 8) }
            close(supervisorEnd)
        }
    }

    deinit { close(end) }

    func exchangeMessages(count: Int) {
        var bytes: UInt64 = 0
        for _ in 0..<count {
            _ = write(end, &bytes, 8)
            _ = read(end, &bytes, 8)
        }
    }
}
