extension Lifecycle {
    /// The next moment at which `.timer` is due; `nil` while nothing but an event can change anything.
    package var nextDeadline: Duration? {
        guard isRunning else { return nil }
        return deadlines.compactMap(\.self).min()
    }

    private var deadlines: [Duration?] {
        [
            pendingCallback?.deadline, termination.exitDeadline, termination.nextExtension, suspension.freezeDeadline,
            sleep.flatMap { $0.isReleased ? nil : $0.releaseTime },
        ] + backgroundDeadlines
    }

    private var backgroundDeadlines: [Duration?] {
        guard isBudgetRunning else { return [] }
        return [
            budget.isExpired ? nil : backgroundDeadline,
            budget.killDeadline,
            budget.overdueWake == nil ? wakes.earliestDeadline : nil,
            idleDeadline,
        ]
    }

    /// In the background, and not just on the way out of it.
    var isBudgetRunning: Bool { currentState == .background && budget.deadline != nil }

    private var idleDeadline: Duration? {
        guard targetState == .background, pendingCallback == nil, let since = suspension.idleSince else { return nil }
        return max(since + rules.idleInterval, suspension.retryTime ?? .zero)
    }

    /// Acts on every deadline that has come.
    mutating func handleDeadlines() {
        if let late = pendingCallback, late.deadline <= now { return handleTimeout(of: late.callback) }
        if let deadline = termination.exitDeadline, deadline <= now { return kill(.watchdog(.willTerminate)) }
        if let deadline = suspension.freezeDeadline, deadline <= now { handleFreezeFailure() }
        if isBudgetRunning { handleBackgroundDeadlines() }
        extendStopTimeout()
    }

    private mutating func handleBackgroundDeadlines() {
        if let deadline = budget.killDeadline, deadline <= now { return enforceExpiration() }
        expireOverdueWake()
        if !budget.isExpired, let deadline = backgroundDeadline, deadline <= now { expireBackgroundTime() }
    }

    /// A wake that is not taken in time is treated as one that was not completed; all else is the watchdog's.
    private mutating func handleTimeout(of callback: LifecycleCallback) {
        guard case .wake = callback else { return kill(.watchdog(callback)) }
        pendingCallback = nil
        if isBudgetRunning { expireOverdueWake() }
    }
}
