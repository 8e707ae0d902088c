extension Lifecycle {
    /// The time at which the host passes `.deadlineReached`; `nil` if only another event can change the state.
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

    /// A Boolean value indicating whether background time is running, which excludes the way back to the foreground.
    var isBudgetRunning: Bool { currentState == .background && budget.isRunning }

    private var idleDeadline: Duration? {
        guard targetState == .background, pendingCallback == nil, let since = suspension.idleSince else { return nil }
        return max(since + rules.idleInterval, suspension.retryTime ?? .zero)
    }

    /// Handles every deadline that has passed.
    mutating func handleDeadlines() {
        if let overdue = pendingCallback, overdue.deadline <= now { return handleTimeout(of: overdue.callback) }
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

    /// Treats a wake that was not acknowledged in time as incomplete; kills the process for any other callback.
    private mutating func handleTimeout(of callback: LifecycleCallback) {
        guard case .wake = callback else { return kill(.watchdog(callback)) }
        pendingCallback = nil
        if isBudgetRunning { expireOverdueWake() }
    }
}
