extension Lifecycle {
    /// The time at which the host passes `.deadlineReached`; `nil` if only another event can change the state.
    package var nextDeadline: Duration? {
        guard isRunning else { return nil }
        let own = [
            pendingCallback?.deadline, termination.exitDeadline, termination.nextExtension, suspension.freezeDeadline,
            stay.sleep?.deadline,
        ]
        return (own + (isBudgetRunning ? stay.deadlines + [idleDeadline] : [])).compactMap(\.self).min()
    }

    /// A Boolean value indicating whether background time is running, which excludes the way back to the foreground.
    var isBudgetRunning: Bool { currentState == .background && stay.isRunning }

    private var idleDeadline: Duration? {
        targetState == .background && pendingCallback == nil ? suspension.idleDeadline(under: rules) : nil
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
        if let deadline = stay.killDeadline, deadline <= now { return enforceExpiration() }
        effects += stay.expireOverdueWake(under: rules, at: now)
        if !stay.isExpired, let deadline = stay.end, deadline <= now { expireBackgroundTime() }
    }

    /// Treats a wake that was not acknowledged in time as incomplete; kills the process for any other callback.
    private mutating func handleTimeout(of callback: LifecycleCallback) {
        guard case .wake = callback else { return kill(.watchdog(callback)) }
        pendingCallback = nil
        if isBudgetRunning { effects += stay.expireOverdueWake(under: rules, at: now) }
    }
}
