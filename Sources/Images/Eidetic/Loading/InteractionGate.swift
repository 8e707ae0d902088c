import EideticCore

/// A gate that holds low-priority work back while the user scrolls or drags.
final class InteractionGate: Sendable {
    private struct State {
        var isClosed = false
        var waiters: [ObjectIdentifier: (waiter: Waiter<Void>, context: JobContext)] = [:]
    }

    private let state = Guarded(State())

    /// A Boolean value indicating whether the user scrolls or drags now.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Closes or opens the gate; returns `true` if this changed the gate.
    func setClosed(_ isClosed: Bool) -> Bool {
        let isChanged = state.withLock { exchange(&$0.isClosed, with: isClosed) != isClosed }
        resumeAdmitted()
        return isChanged
    }

    /// Suspends a job of low priority while the gate is closed; a job that becomes more urgent is resumed.
    ///
    /// - Throws: `cancelled` if the task is cancelled meanwhile.
    nonisolated(nonsending) func waitUntilOpen(for context: JobContext) async throws(EideticError) {
        guard isClosed, context.priority == .low else { return }
        let waiter = Waiter<Void>()
        let id = ObjectIdentifier(waiter)
        context.addPriorityObserver(waiter) { [weak self] in self?.resumeAdmitted() }
        state.withLock { $0.waiters[id] = (waiter, context) }
        // The gate or the priority may have changed before the waiter was in the table.
        resumeAdmitted()
        await waiter.value(ifCancelled: ())
        context.removePriorityObserver(waiter)
        _ = state.withLock { $0.waiters.removeValue(forKey: id) }
        if Task.isCancelled { throw .cancelled }
    }

    private func resumeAdmitted() {
        let admitted = state.withLock { state in
            let admitted = state.waiters.filter { !state.isClosed || $0.value.context.priority > .low }
            for key in admitted.keys { state.waiters[key] = nil }
            return admitted.values.map(\.waiter)
        }
        for waiter in admitted { waiter.resume(returning: ()) }
    }
}
