/// Lets a bounded number of tasks through at a time; the others wait in their order, without a thread.
package final class AsyncLimiter: Sendable {
    private struct State {
        var inside = 0
        var isPaused = false
        var lastTicket: UInt64 = 0
        var waiting: [(ticket: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private let width: Int
    private let state = Guarded(State())

    /// Creates a limiter that lets `width` tasks through at a time.
    package init(width: Int) { self.width = max(1, width) }

    /// Whether nobody new is let through.
    package var isPaused: Bool {
        get { state.withLock { $0.isPaused } }
        set {
            state.withLock { $0.isPaused = newValue }
            letThrough()
        }
    }

    /// Waits for a place; each success must be followed by one `leave`.
    ///
    /// Throws `cancelled` where the task is.
    package func enter() async throws(EideticError) {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        let isIn = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.waiting.append((ticket, continuation)) }
                letThrough()
                // A cancellation that came before the ticket was in the queue found nobody to remove.
                if Task.isCancelled { giveUp(ticket) }
            }
        } onCancel: {
            giveUp(ticket)
        }
        if !isIn { throw .cancelled }
    }

    /// Gives the place back.
    package func leave() {
        state.withLock { $0.inside -= 1 }
        letThrough()
    }

    private func letThrough() {
        let admitted = state.withLock { state in
            let free = state.isPaused ? 0 : max(0, width - state.inside)
            let admitted = Array(state.waiting.prefix(free))
            state.waiting.removeFirst(admitted.count)
            state.inside += admitted.count
            return admitted
        }
        for place in admitted { place.continuation.resume(returning: true) }
    }

    private func giveUp(_ ticket: UInt64) {
        let place = state.withLock { state in
            state.waiting.firstIndex { $0.ticket == ticket }.map { state.waiting.remove(at: $0) }
        }
        place?.continuation.resume(returning: false)
    }
}
