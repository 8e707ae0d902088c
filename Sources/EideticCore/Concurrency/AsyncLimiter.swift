/// Lets a bounded number of tasks through at a time; the others wait in their order, without a thread.
package final class AsyncLimiter: Sendable {
    fileprivate struct State {
        var activeCount = 0
        var isPaused = false
        /// The number that was given out last, and the one whose turn is next.
        var lastTicket: UInt64 = 0
        var nextTicket: UInt64 = 1
        var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        /// Numbers whose turn came before their owners did.
        var admittedTickets: Set<UInt64> = []
        /// Numbers that were given up before their turn.
        var cancelledTickets: Set<UInt64> = []
    }

    private let maximumConcurrent: Int
    private let state = Guarded(State())

    /// Creates a limiter that lets `width` tasks through at a time.
    package init(maximumConcurrent: Int) { self.maximumConcurrent = max(1, maximumConcurrent) }

    /// Whether nobody new is let through.
    package var isPaused: Bool {
        get { state.withLock { $0.isPaused } }
        set {
            state.withLock { $0.isPaused = newValue }
            admitWaiters()
        }
    }

    /// Takes a number, by which the caller's task has its turn; it must be entered with, once.
    package func reserveTicket() -> UInt64 {
        let number = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        admitWaiters()
        return number
    }

    /// Waits for a place; each success must be followed by one `leave`.
    ///
    /// Throws `cancelled` where the task is.
    package func acquire() async throws(EideticError) { try await acquire(ticket: reserveTicket()) }

    /// Waits until it is a number's turn; see `enter()`.
    package func acquire(ticket number: UInt64) async throws(EideticError) {
        let isIn = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isIn = state.withLock { $0.admission(of: number, orEnqueue: continuation) }
                if let isIn { return continuation.resume(returning: isIn) }
                // A cancellation that came before found nobody to answer.
                if Task.isCancelled { cancel(ticket: number) }
            }
        } onCancel: {
            cancel(ticket: number)
        }
        if !isIn { throw .cancelled }
    }

    /// Gives the place back.
    package func release() {
        state.withLock { $0.activeCount -= 1 }
        admitWaiters()
    }

    private func admitWaiters() {
        let admitted = state.withLock { $0.admit(maximumConcurrent: maximumConcurrent) }
        for continuation in admitted { continuation.resume(returning: true) }
    }

    private func cancel(ticket number: UInt64) {
        state.withLock { $0.cancel(ticket: number) }?.resume(returning: false)
    }
}

extension AsyncLimiter.State {
    /// Whether a number is in, or was given up; `nil` where it waits from now on.
    fileprivate mutating func admission(of number: UInt64, orEnqueue continuation: CheckedContinuation<Bool, Never>)
        -> Bool?
    {
        if number < nextTicket { return admittedTickets.remove(number) != nil }
        if cancelledTickets.contains(number) { return false }
        waiters[number] = continuation
        return nil
    }

    /// Lets in those whose turn it is; gives those among them that wait.
    fileprivate mutating func admit(maximumConcurrent width: Int) -> [CheckedContinuation<Bool, Never>] {
        var continuations: [CheckedContinuation<Bool, Never>] = []
        while !isPaused, activeCount < width, nextTicket <= lastTicket {
            defer { nextTicket += 1 }
            if cancelledTickets.remove(nextTicket) != nil { continue }
            activeCount += 1
            if let continuation = waiters.removeValue(forKey: nextTicket) {
                continuations.append(continuation)
            } else {
                admittedTickets.insert(nextTicket)
            }
        }
        return continuations
    }

    /// Takes a number out whose turn has not come; gives who waits with it.
    fileprivate mutating func cancel(ticket number: UInt64) -> CheckedContinuation<Bool, Never>? {
        guard number >= nextTicket, cancelledTickets.insert(number).inserted else { return nil }
        return waiters.removeValue(forKey: number)
    }
}
