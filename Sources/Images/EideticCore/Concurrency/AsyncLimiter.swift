/// A semaphore for tasks: at most a fixed number proceed at a time; the others wait in order, without blocking a
/// thread.
package final class AsyncLimiter: Sendable {
    /// A place in the queue, whose value is `true` when it is admitted, `false` when its task is cancelled.
    package typealias Ticket = Waiter<Bool>

    private struct State {
        var activeCount = 0
        var isPaused = false
        /// The tickets that were not admitted, in their order from the index `next` on.
        var tickets: [Ticket] = []
        var next = 0
        /// The number of tickets that were cancelled since such tickets were last removed.
        var cancelledCount = 0

        /// Counts the next ticket as active and returns it; `nil` if none may be admitted.
        mutating func admitNext(maximumConcurrent: Int) -> Ticket? {
            guard !isPaused, activeCount < maximumConcurrent, next < tickets.count else { return nil }
            activeCount += 1
            next += 1
            defer { if next == tickets.count || next == 1_024 { (tickets, next) = (Array(tickets[next...]), 0) } }
            return tickets[next - 1]
        }

        /// Counts a cancelled ticket, and removes all such tickets as soon as they may be half of the queue.
        mutating func countCancelledTicket() {
            cancelledCount += 1
            guard 2 * cancelledCount >= tickets.count - next else { return }
            tickets = tickets[next...].filter { !$0.isResumed }
            next = 0
            cancelledCount = 0
        }
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
            admitTickets()
        }
    }

    /// The number of tickets in the queue: those that wait, and at most as many that were cancelled.
    package var queueLength: Int { state.withLock { $0.tickets.count - $0.next } }

    /// Issues a ticket that reserves a place in the queue; it must be passed to `acquire(ticket:)` exactly once.
    package func reserveTicket() -> Ticket {
        let ticket = Ticket()
        state.withLock { $0.tickets.append(ticket) }
        admitTickets()
        return ticket
    }

    /// Waits for admission; each successful call must be balanced by one call of `release()`.
    ///
    /// - Throws: ``EideticError/cancelled`` if the task is cancelled first.
    package func acquire() async throws(EideticError) { try await acquire(ticket: reserveTicket()) }

    /// Waits until the ticket is admitted; see `acquire()`.
    package func acquire(ticket: Ticket) async throws(EideticError) {
        if await ticket.value(ifCancelled: false) { return }
        state.withLock { $0.countCancelledTicket() }
        throw .cancelled
    }

    /// Ends one admission and admits the next waiting task.
    package func release() {
        state.withLock { $0.activeCount -= 1 }
        admitTickets()
    }

    /// Admits tickets while there is room; a cancelled one leaves its place to the next.
    private func admitTickets() {
        while let ticket = state.withLock({ $0.admitNext(maximumConcurrent: maximumConcurrent) }) {
            if !ticket.resume(returning: true) { state.withLock { $0.activeCount -= 1 } }
        }
    }
}
