import EideticCore

/// Resumes the tasks that wait for a change of the network.
final class NetworkSignal: Sendable {
    private struct State {
        var changeCount: UInt64 = 0
        var waiters: [ObjectIdentifier: Waiter<Void>] = [:]
    }

    private let state = Guarded(State())

    /// The number of changes so far.
    var changeCount: UInt64 { state.withLock { $0.changeCount } }

    /// Suspends until the number of changes exceeds `changeCount`, or the task is cancelled.
    func wait(after changeCount: UInt64) async {
        let waiter = Waiter<Void>()
        let id = ObjectIdentifier(waiter)
        let hasChanged = state.withLock { state in
            state.waiters[id] = waiter
            return state.changeCount != changeCount
        }
        if !hasChanged { await waiter.value(ifCancelled: ()) }
        _ = state.withLock { $0.waiters.removeValue(forKey: id) }
    }

    /// Resumes all waiting tasks.
    func signal() {
        let waiters = state.withLock { state in
            state.changeCount += 1
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: ()) }
    }
}
