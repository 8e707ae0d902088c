import EideticCore

/// A door that a test opens: both threads and tasks can wait before it.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var continuations: [CheckedContinuation<Void, Never>] = []
    }

    private let monitor = Monitor(State())

    /// Creates a closed gate.
    package init() {}

    /// Lets everybody through, now and later.
    package func open() {
        let continuations = monitor.withLock { state in
            state.isOpen = true
            defer { state.continuations = [] }
            return state.continuations
        }
        monitor.broadcast()
        for continuation in continuations { continuation.resume() }
    }

    /// Whether it is open.
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

    /// Blocks the thread until the gate is open; for threads of our own alone.
    package func block() { monitor.wait { $0.isOpen ? () : nil } }
}
