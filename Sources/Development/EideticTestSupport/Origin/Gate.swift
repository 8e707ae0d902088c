import EideticCore

/// A gate that a test opens; threads and tasks can wait for it.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var continuations: [CheckedContinuation<Void, Never>] = []
    }

    private let monitor = Monitor(State())

    /// Creates a closed gate.
    package init() {}

    /// Opens the gate for all current and later waiters.
    package func open() {
        let continuations = monitor.withLock { state in
            state.isOpen = true
            defer { state.continuations = [] }
            return state.continuations
        }
        monitor.broadcast()
        for continuation in continuations { continuation.resume() }
    }

    /// A Boolean value indicating whether the gate is open.
    package var isOpen: Bool { monitor.withLock { $0.isOpen } }

    /// Suspends the task until the gate is open.
    package func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = monitor.withLock { state in
                if !state.isOpen { state.continuations.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Blocks the thread until the gate is open.
    ///
    /// Only for threads outside Swift's cooperative pool.
    package func block() { monitor.wait { $0.isOpen ? () : nil } }
}
