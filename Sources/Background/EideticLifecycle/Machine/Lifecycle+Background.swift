// Background time, wakes, expiration.
extension Lifecycle {
    mutating func enterBackground() {
        currentState = .background
        startBudget()
        deliver(.didEnterBackground, within: rules.backgroundLimit)
    }

    mutating func startBudget() {
        stay.start(under: rules, at: now)
        effects.append(stay.phase)
    }

    /// Announces a new end of the background time that runs.
    mutating func updateDeadline() {
        if isBudgetRunning, !stay.isExpired { effects.append(stay.phase) }
    }

    /// Grants background time again after an expiration.
    mutating func restartBudget() {
        stay.forgive()
        suspension.endIdleness()
        effects.append(stay.phase)
    }

    mutating func expireBackgroundTime() { effects += stay.expire(under: rules, at: now) }

    /// Delivers wakes, and suspends or terminates an idle application.
    mutating func advanceInBackground() -> Bool {
        if deliverNextWake() { return true }
        guard stay.isIdle, !isHeldByAssertion else {
            suspension.endIdleness()
            // A task that started after the expiration has a handler that was not yet called.
            if stay.isExpired, stay.sleep == nil { expireBackgroundTime() }
            return false
        }
        stay.settle()
        switch rules.suspensionPolicy {
        case _ where suspension.isRequested: return freezeWhenIdle()
        case .freeze: return freezeWhenIdle()
        case .keepRunning:
            suspension.endIdleness()
            return false
        case .terminate:
            suspension.endIdleness()
            // A sleep of the machine does not terminate the application.
            if stay.sleep == nil { terminate(grace: .zero) }
            return stay.sleep == nil
        }
    }

    /// A Boolean value indicating whether an assertion keeps the application running without an open task.
    private var isHeldByAssertion: Bool { !stay.assertions.isEmpty && !stay.isExpired && !suspension.isRequested }

    /// Delivers the oldest undelivered wake; its time limit is independent of the budget.
    mutating func deliverNextWake() -> Bool {
        if currentState == .background, stay.isExpirationUnderWay { return false }
        guard let (reason, limit) = stay.wakes.deliverNext(under: rules, at: now) else { return false }
        if currentState == .background { restartBudget() }
        deliver(.wake(reason), within: limit)
        return true
    }

    /// Records the number of open tasks.
    mutating func openTaskCountChanged(to count: Int) {
        guard isRunning else { return }
        stay.openTasks = max(0, count)
        // A frozen process cannot start a task, so it was frozen inside one, and must continue.
        if currentState == .suspended, stay.openTasks > 0 { thawIntoBackground() }
    }

    /// Kills the process for tasks or wakes that are open after the expiration.
    mutating func enforceExpiration() {
        if let reason = stay.killReason { return kill(reason) }
        report(stay.wakes.takeDelivered(), as: .failed)
        stay.endKillLimit()
    }
}
