/// A semaphore for tasks: at most a fixed number proceed at a time; the others wait in order, without blocking a
/// thread.
package final class AsyncLimiter: Sendable {
    fileprivate struct State {
        var activeCount = 0
        var isPaused = false
        /// The most recently issued ticket, and the next ticket to be admitted.
        var lastTicket: UInt64 = 0
        var nextTicket: UInt64 = 1
        var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        /// Tickets that were admitted before their tasks started to wait.
        var admittedTickets: Set<UInt64> = []
        /// Tickets that were cancelled before they were admitted.
        var cancelledTickets: Set<UInt64> = []
    }

    private let maximumConcurrent: Int
    private let state = Guarded(State())

    /// Creates a limiter that admits at most `maximumConcurrent` tasks at a time; at least one.
    package init(maximumConcurrent: Int) { self.maximumConcurrent = max(1, maximumConcurrent) }

    /// A Boolean value indicating whether no further tasks are admitted.
    package var isPaused: Bool {
        get { state.withLock { $0.isPaused } }
        set {
            state.withLock { $0.isPaused = newValue }
            admitWaiters()
        }
    }

    /// Issues a ticket that reserves a place in the queue; it must be passed to `acquire(ticket:)` exactly once.
    package func reserveTicket() -> UInt64 {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        admitWaiters()
        return ticket
    }

    /// Waits for admission; each successful call must be balanced by one call of `release()`.
    ///
    /// - Throws: ``EideticError/cancelled`` if the task is cancelled first.
    package func acquire() async throws(EideticError) { try await acquire(ticket: reserveTicket()) }

    /// Waits until the ticket is admitted; see `acquire()`.
    package func acquire(ticket: UInt64) async throws(EideticError) {
        let isAdmitted = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isAdmitted = state.withLock { $0.admission(of: ticket, orEnqueue: continuation) }
                if let isAdmitted { return continuation.resume(returning: isAdmitted) }
                // A cancellation that preceded the continuation found none to resume.
                if Task.isCancelled { cancel(ticket: ticket) }
            }
        } onCancel: {
            cancel(ticket: ticket)
        }
        if !isAdmitted { throw .cancelled }
    }

    /// Ends one admission and admits the next waiting task.
    package func release() {
        state.withLock { $0.activeCount -= 1 }
        admitWaiters()
    }

    private func admitWaiters() {
        let admitted = state.withLock { $0.admit(maximumConcurrent: maximumConcurrent) }
        for continuation in admitted { continuation.resume(returning: true) }
    }

    private func cancel(ticket: UInt64) {
        state.withLock { $0.cancel(ticket: ticket) }?.resume(returning: false)
    }
}

extension AsyncLimiter.State {
    /// Returns whether the ticket was admitted or cancelled; `nil` if its continuation waits from now on.
    fileprivate mutating func admission(of ticket: UInt64, orEnqueue continuation: CheckedContinuation<Bool, Never>)
        -> Bool?
    {
        if ticket < nextTicket { return admittedTickets.remove(ticket) != nil }
        if cancelledTickets.contains(ticket) { return false }
        waiters[ticket] = continuation
        return nil
    }

    /// Admits the next tickets, and returns the continuations to resume.
    fileprivate mutating func admit(maximumConcurrent: Int) -> [CheckedContinuation<Bool, Never>] {
        var continuations: [CheckedContinuation<Bool, Never>] = []
        while !isPaused, activeCount < maximumConcurrent, nextTicket <= lastTicket {
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

    /// Cancels a ticket that was not yet admitted, and returns its waiting continuation.
    fileprivate mutating func cancel(ticket: UInt64) -> CheckedContinuation<Bool, Never>? {
        guard ticket >= nextTicket, cancelledTickets.insert(ticket).inserted else { return nil }
        return waiters.removeValue(forKey: ticket)
    }
}
