import EideticCore

/// A gate that holds low-priority work back while the user scrolls or drags.
final class InteractionGate: Sendable {
    /// A job that is suspended in front of the gate.
    private final class Waiter: Sendable {
        let context: JobContext
        private let continuation = Guarded<CheckedContinuation<Void, Never>?>(nil)

        init(context: JobContext) { self.context = context }

        func suspend(_ continuation: CheckedContinuation<Void, Never>) {
            self.continuation.withLock { $0 = continuation }
        }

        func resume() {
            let suspended = continuation.withLock { continuation in
                defer { continuation = nil }
                return continuation
            }
            suspended?.resume()
        }
    }

    private let state = Guarded((isClosed: false, waiters: [ObjectIdentifier: Waiter]()))

    /// A Boolean value indicating whether the user scrolls or drags now.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Closes or opens the gate.
    ///
    /// - Returns: `true` if this changed the gate; otherwise, `false`.
    func setClosed(_ isClosed: Bool) -> Bool {
        let isChanged = state.withLock { state in
            defer { state.isClosed = isClosed }
            return state.isClosed != isClosed
        }
        resumeAdmitted()
        return isChanged
    }

    /// Suspends a job of low priority while the gate is closed; a job that becomes more urgent is resumed.
    ///
    /// - Throws: `cancelled` if the task is cancelled meanwhile.
    func waitUntilOpen(for context: JobContext) async throws(EideticError) {
        guard isClosed, context.priority == .low else { return }
        let waiter = Waiter(context: context)
        context.addPriorityObserver(waiter) { [weak self] in self?.resumeAdmitted() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiter.suspend(continuation)
                state.withLock { $0.waiters[ObjectIdentifier(waiter)] = waiter }
                // The gate, the priority or the task may have changed before the waiter was in the table.
                resumeAdmitted()
                if Task.isCancelled { remove(waiter) }
            }
        } onCancel: {
            remove(waiter)
        }
        context.removePriorityObserver(waiter)
        if Task.isCancelled { throw .cancelled }
    }

    private func resumeAdmitted() {
        let admitted = state.withLock { state in
            let admitted = state.waiters.filter { !state.isClosed || $0.value.context.priority > .low }
            for key in admitted.keys { state.waiters[key] = nil }
            return Array(admitted.values)
        }
        for waiter in admitted { waiter.resume() }
    }

    private func remove(_ waiter: Waiter) {
        _ = state.withLock { $0.waiters.removeValue(forKey: ObjectIdentifier(waiter)) }
        waiter.resume()
    }
}
