import EideticCore

/// The work that other threads give to a ``TransferEngine``.
package final class TransferInbox: Sendable {
    private struct State {
        var work: [@Sendable (TransferEngine) -> Void] = []
        var isClosed = false
        var wakeUp: (@Sendable () -> Void)?
    }

    private let state = Guarded(State())

    package init() {}

    /// Calls a function on the engine's thread, later; returns `false` if the engine has stopped.
    @discardableResult
    package func post(_ work: @escaping @Sendable (TransferEngine) -> Void) -> Bool {
        let (isPosted, wakeUp) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            guard !state.isClosed else { return (false, nil) }
            state.work.append(work)
            // Work that was there before has woken the engine, which has not taken it yet.
            return (true, state.work.count == 1 ? state.wakeUp : nil)
        }
        wakeUp?()
        return isPosted
    }

    func connect(_ wakeUp: @escaping @Sendable () -> Void) {
        let hasWork = state.withLock { state in
            state.wakeUp = wakeUp
            return !state.work.isEmpty
        }
        // It was posted when nobody could be woken.
        if hasWork { wakeUp() }
    }

    func takeAll() -> [@Sendable (TransferEngine) -> Void] {
        state.withLock { state in
            defer { state.work = [] }
            return state.work
        }
    }

    var isEmpty: Bool { state.withLock { $0.work.isEmpty } }

    /// Refuses further work, and returns what is left.
    func close() -> [@Sendable (TransferEngine) -> Void] {
        state.withLock { state in
            state.isClosed = true
            state.wakeUp = nil
            defer { state.work = [] }
            return state.work
        }
    }
}
