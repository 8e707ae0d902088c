/// The calls of a ``DetachedCalls`` that run or wait.
struct DetachedCallTable {
    /// The limits on running calls.
    struct Limits {
        let calls: Int
        let overdueCalls: Int
        let memory: Int
    }

    /// The answer to a waiting call.
    enum Decision {
        case start, refuse, cancel
    }

    private struct Call {
        let deadline: ContinuousClock.Instant
        let memory: Int
    }

    private var calls: [Int: Call] = [:]
    private var waitingTickets: [Int] = []
    private var nextTicket = 0

    var runningCallCount: Int { calls.count }

    /// Returns the identity of a new call, which waits for its start in order of arrival if `isWaiting` is true.
    mutating func makeTicket(isWaiting: Bool) -> Int {
        defer { nextTicket += 1 }
        if isWaiting { waitingTickets.append(nextTicket) }
        return nextTicket
    }

    /// Records that a call has ended.
    mutating func remove(_ ticket: Int) { calls[ticket] = nil }

    /// Returns whether a call starts now; `nil` if it has to wait.
    ///
    /// The call is recorded as running if it starts, and waits no longer if there is a decision.
    mutating func decision(
        for ticket: Int,
        reserving reservation: DetachedCalls.Reservation,
        limits: Limits,
        isCancelled: Bool
    ) -> Decision? {
        let now = ContinuousClock.now
        let decision = isCancelled ? .cancel : decision(for: ticket, reserving: reservation, limits: limits, at: now)
        guard let decision else { return nil }
        waitingTickets.removeAll { $0 == ticket }
        if decision == .start {
            calls[ticket] = Call(deadline: now + reservation.duration, memory: reservation.memory)
        }
        return decision
    }

    private func decision(
        for ticket: Int,
        reserving reservation: DetachedCalls.Reservation,
        limits: Limits,
        at now: ContinuousClock.Instant
    ) -> Decision? {
        let active = calls.values.filter { now < $0.deadline }
        let overdueMemory = calls.values.filter { now >= $0.deadline }.reduce(0) { $0 + $1.memory }
        let isExhausted = overdueMemory >= 2 * limits.memory && overdueMemory > 0
        if isExhausted || calls.count - active.count >= limits.overdueCalls { return .refuse }
        if reservation.isImmediate { return calls.count < limits.calls + limits.overdueCalls ? .start : .refuse }
        guard waitingTickets.first == ticket, active.count < limits.calls else { return nil }
        return active.reduce(reservation.memory) { $0 + $1.memory } <= limits.memory ? .start : nil
    }
}
