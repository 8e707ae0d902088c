import EideticCore
import EideticFetch
import EideticTestSupport

/// Notes the waits between attempts and lets no time pass; or holds the first one until its task is cancelled.
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

/// Counts, from any thread.
final class Counter: Sendable {
    private let value = Guarded(0)

    /// Counts one more; gives how many there were before.
    @discardableResult
    func next() -> Int {
        value.withLock { value in
            defer { value += 1 }
            return value
        }
    }

    var count: Int { value.withLock { $0 } }
}
