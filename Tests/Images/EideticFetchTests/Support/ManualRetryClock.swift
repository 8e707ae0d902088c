import EideticCore
import EideticFetch
import EideticTestSupport

/// A clock that records each back-off without waiting; with `holdsFirstWait` it waits until the task is cancelled.
final class ManualRetryClock: RetryClock {
    private let waits = Guarded<[Duration]>([])
    private let holdsFirstWait: Bool
    let reached = Gate()

    init(holdsFirstWait: Bool = false) { self.holdsFirstWait = holdsFirstWait }

    var delays: [Duration] { waits.withLock { $0 } }

    func wait(for delay: Duration) async {
        waits.withLock { $0.append(delay) }
        reached.open()
        guard holdsFirstWait else { return }
        let end = Gate()
        await withTaskCancellationHandler {
            await end.wait()
        } onCancel: {
            end.open()
        }
    }
}

/// A counter for any thread.
final class Counter: Sendable {
    private let value = Guarded(0)

    /// Increments the count; returns the previous one.
    @discardableResult
    func next() -> Int {
        value.withLock { value in
            defer { value += 1 }
            return value
        }
    }

    var count: Int { value.withLock { $0 } }
}
