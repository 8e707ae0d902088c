import EideticCore

/// Wakes those who wait for the network.
final class NetworkSignal: Sendable {
    private struct State {
        var lastID: UInt64 = 0
        var changeCount: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Guarded(State())

    /// How often the network has changed so far.
    var changeCount: UInt64 { state.withLock { $0.changeCount } }

    /// Suspends until the network has changed more often than `changes`, or the task is cancelled.
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

    /// Wakes all.
    func signal() {
        let waiters = state.withLock { state in
            state.changeCount += 1
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for continuation in waiters { continuation.resume() }
    }

    private func resume(_ id: UInt64) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.resume()
    }
}
