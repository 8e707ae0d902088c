import EideticCore

/// A count of active operations, with the tasks that wait until none is active.
final class Activity: Sendable {
    private struct State {
        var activeCount = 0
        var endedCount = 0
        var waiters: [(waiter: Waiter<Void>, lastCount: Int)] = []
    }

    private let state = Guarded(State())

    func begin() { state.withLock { $0.activeCount += 1 } }

    func end() {
        let due = state.withLock { state in
            state.activeCount -= 1
            state.endedCount += 1
            let count = state.activeCount == 0 ? .max : state.endedCount
            let due = state.waiters.filter { $0.lastCount <= count }
            state.waiters.removeAll { $0.lastCount <= count }
            return due
        }
        for (waiter, _) in due { waiter.resume(returning: ()) }
    }

    /// Suspends the task until no operation is active, `limit` of them have ended, or the task is cancelled.
    func waitUntilIdle(orEnded limit: Int = .max / 2) async {
        if let waiter = makeWaiter(limit: limit) { await waiter.value(ifCancelled: ()) }
    }

    /// Suspends the task until no operation is active, whether or not the task is cancelled.
    func waitUntilIdleUncancelled() async { if let waiter = makeWaiter() { await waiter.wait {} } }

    private func makeWaiter(limit: Int = .max / 2) -> Waiter<Void>? {
        state.withLock { state in
            guard state.activeCount > 0 else { return nil }
            let waiter = Waiter<Void>()
            state.waiters.append((waiter, state.endedCount + limit))
            return waiter
        }
    }
}
