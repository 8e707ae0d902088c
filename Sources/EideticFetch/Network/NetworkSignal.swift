import EideticCore

/// Resumes the tasks that wait for a change of the network.
final class NetworkSignal: Sendable {
    private struct State {
        var lastID: UInt64 = 0
        var changeCount: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Guarded(State())

    /// The number of changes so far.
    var changeCount: UInt64 { state.withLock { $0.changeCount } }

    /// Suspends until the number of changes exceeds `changeCount`, or the task is cancelled.
    func wait(after changeCount: UInt64) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiters[id] = continuation }
                if Task.isCancelled || self.changeCount != changeCount { resume(id) }
            }
        } onCancel: {
            resume(id)
        }
    }

    /// Resumes all waiting tasks.
    func signal() {
        let waiters = state.withLock { state in
            state.changeCount += 1
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    private func resume(_ id: UInt64) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.resume()
    }
}
