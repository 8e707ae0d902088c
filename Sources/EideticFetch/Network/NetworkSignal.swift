import EideticCore

/// Wakes those who wait for the network.
final class NetworkSignal: Sendable {
    private struct State {
        var lastID: UInt64 = 0
        var changes: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Guarded(State())

    /// How often the network has changed so far.
    var changes: UInt64 { state.withLock { $0.changes } }

    /// Suspends until the network has changed more often than `changes`, or the task is cancelled.
    func wait(after changes: UInt64) async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiting[id] = continuation }
                if Task.isCancelled || self.changes != changes { wake(id) }
            }
        } onCancel: {
            wake(id)
        }
    }

    /// Wakes all.
    func fire() {
        let waiting = state.withLock { state in
            state.changes += 1
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    private func wake(_ id: UInt64) {
        let waiting = state.withLock { $0.waiting.removeValue(forKey: id) }
        waiting?.resume()
    }
}
