import EideticCore

/// The decodes that callers wait for; what nobody waits for is done between them.
final class DecodeActivity: Sendable {
    private struct State {
        var runningCount = 0
        var endedCount = 0
        var waiters: [(waiter: Waiter<Void>, lastCount: Int)] = []
    }

    /// The number of decodes after which a wait ends although others run, so that a server that is never idle makes
    /// derived images, too.
    static let longestWait = 64

    private let state = Guarded(State())

    func begin() { state.withLock { $0.runningCount += 1 } }

    func end() {
        let due = state.withLock { state in
            state.runningCount -= 1
            state.endedCount += 1
            let count = state.runningCount == 0 ? .max : state.endedCount
            let due = state.waiters.filter { $0.lastCount <= count }
            state.waiters.removeAll { $0.lastCount <= count }
            return due
        }
        for (waiter, _) in due { waiter.resume(returning: ()) }
    }

    /// Suspends the task until no decode runs, or ``longestWait`` of them have ended.
    func waitUntilIdle() async {
        let waiter = Waiter<Void>()
        let isIdle = state.withLock { state in
            guard state.runningCount > 0 else { return true }
            state.waiters.append((waiter, state.endedCount + Self.longestWait))
            return false
        }
        if !isIdle { await waiter.value(ifCancelled: ()) }
    }
}
