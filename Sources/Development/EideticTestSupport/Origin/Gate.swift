import EideticCore

/// A gate that a test opens; threads and tasks can wait for it.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var continuations: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let monitor = Monitor(State())

    /// Creates a closed gate.
    package init() {}

    /// Opens the gate for all current and later waiters.
    package func open() {
        let continuations = monitor.withLock { state in
            state.isOpen = true
            defer { state.continuations = [:] }
            return state.continuations.values
        }
        monitor.broadcast()
        for continuation in continuations { continuation.resume() }
    }

    /// A Boolean value indicating whether the gate is open.
    package var isOpen: Bool { monitor.withLock { $0.isOpen } }

    /// Suspends the task until the gate is open, or the task is cancelled, as by the time limit of a test.
    package func wait() async {
        let number = monitor.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = monitor.withLock { state in
                    if state.isOpen || Task.isCancelled { return true }
                    state.continuations[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            monitor.withLock { $0.continuations.removeValue(forKey: number) }?.resume()
        }
    }

    /// Blocks the thread until the gate is open.
    ///
    /// Only for threads outside Swift's cooperative pool.
    package func block() { monitor.wait { $0.isOpen ? () : nil } }

    /// Blocks the thread until the gate is open, or for a time.
    package func block(for duration: Duration) { _ = monitor.wait(for: duration) { $0.isOpen ? () : nil } }
}
