import EideticBackground
import EideticCore
import Glibc
import Synchronization

extension Suite {
    /// What it costs to hold off suspension around a piece of work.
    static let background = Suite("background", "a background task, begun and ended in the foreground") { bench in
        let application = Application()
        let counter = Atomic<UInt64>(0)
        let pairs = 1_000
        await bench.compare(
            Case("begin + end, against one atomic addition", .nanoseconds, goal: .ratio(20)),
            operations: pairs,
            with: "Atomic<UInt64>.add",
            ours: { beginAndEnd(application, pairs) },
            theirs: { for _ in 0..<pairs { counter.add(1, ordering: .sequentiallyConsistent) } }
        )
        let messages = MessagePair()
        await bench.compare(
            Case("begin + end, against a message for each", .nanoseconds, goal: .ratio(0.05)),
            operations: pairs,
            with: "two messages over a socket pair",
            ours: { beginAndEnd(application, pairs) },
            theirs: { for _ in 0..<pairs { messages.exchange(2) } }
        )
    }

    private static func beginAndEnd(_ application: Application, _ pairs: Int) {
        for _ in 0..<pairs {
            application.endBackgroundTask(application.beginBackgroundTask(named: "bench") {})
        }
    }
}

/// A supervisor that is told of each begin and each end, but answers in the same thread: the least that it can cost.
private final class MessagePair: Sendable {
    private let ends: (Int32, Int32)

    init() {
        var ends: [Int32] = [-1, -1]
        precondition(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0, "no socket pair")
        self.ends = (ends[0], ends[1])
    }

    deinit {
        close(ends.0)
        close(ends.1)
    }

    func exchange(_ count: Int) {
        var bytes: UInt64 = 0
        for _ in 0..<count {
            _ = write(ends.0, &bytes, 8)
            _ = read(ends.1, &bytes, 8)
        }
    }
}
