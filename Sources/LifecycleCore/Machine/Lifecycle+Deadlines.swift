extension Lifecycle {
    /// The next moment at which `.timer` is due; `nil` while nothing but an event can change anything.
    package var nextDeadline: Duration? {
        guard isRunning else { return nil }
        return deadlines.compactMap(\.self).min()
    }

    private var deadlines: [Duration?] {
        [
            inFlight?.deadline, ending.exitDeadline, ending.extendAt, suspension.freezeDeadline,
            sleep.flatMap { $0.isReleased ? nil : $0.releaseAt },
        ] + backgroundDeadlines
    }

    private var backgroundDeadlines: [Duration?] {
        guard spendsBudget else { return [] }
        return [
            budget.isExpired ? nil : backgroundDeadline,
            budget.killDeadline,
            budget.overdueWake == nil ? wakes.firstDeadline : nil,
            quietDeadline,
        ]
    }

    /// In the background, and not just on the way out of it.
    var spendsBudget: Bool { position == .background && budget.deadline != nil }

    private var quietDeadline: Duration? {
        guard goal == .background, inFlight == nil, let since = suspension.quietSince else { return nil }
        return max(since + rules.quietTime, suspension.retryAt ?? .zero)
    }

    /// Acts on every deadline that has come.
    mutating func timer() {
        if let late = inFlight, late.deadline <= now { return callbackIsLate(late.callback) }
        if let deadline = ending.exitDeadline, deadline <= now { return kill(.watchdog(.willTerminate)) }
        if let deadline = suspension.freezeDeadline, deadline <= now { freezeFailed() }
        if spendsBudget { backgroundTimer() }
        extendStop()
    }

    private mutating func backgroundTimer() {
        if let deadline = budget.killDeadline, deadline <= now { return enforceExpiry() }
        expireWake()
        if !budget.isExpired, let deadline = backgroundDeadline, deadline <= now { expire() }
    }

    /// A wake that is not taken in time is treated as one that was not completed; all else is the watchdog's.
    private mutating func callbackIsLate(_ callback: Callback) {
        guard case .wake = callback else { return kill(.watchdog(callback)) }
        inFlight = nil
        if spendsBudget { expireWake() }
    }
}
