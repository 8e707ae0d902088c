// Background time: budget, wakes, expiration.
extension Lifecycle {
    mutating func enterBackground() {
        currentState = .background
        startBudget()
        deliver(.didEnterBackground, within: rules.backgroundLimit)
    }

    /// Starts the background time; a long enough stay in the foreground restores it to its full length.
    mutating func startBudget() {
        let stay = budget.foregroundSince.map { now - $0 }
        if stay.map({ $0 >= rules.budgetRefillTime }) ?? true { budget.remaining = rules.backgroundBudget }
        resumeBudget()
        for index in wakes.entries.indices where wakes.entries[index].deadline != nil {
            let wake = wakes.entries[index]
            wakes.entries[index].deadline = now + min(rules.limit(of: wake.reason.kind), wake.allowance)
        }
        effects.append(.setTaskPhase(.background, deadline: backgroundDeadline))
    }

    /// Ends the stay in the background; the remaining time is kept in case the application returns soon.
    mutating func stopBudget() {
        pauseBudget()
        budget = Budget(remaining: budget.remaining, foregroundSince: now)
        suspension.idleSince = nil
        suspension.retryTime = nil
    }

    mutating func resumeBudget() {
        budget.isRunning = true
        budget.deadline = assertions.isEmpty ? budget.remaining.map { now + $0 } : nil
    }

    mutating func pauseBudget() {
        holdBudget()
        budget.isRunning = false
    }

    /// Stops the budget, but not the limits that a request to terminate or a sleep sets.
    mutating func holdBudget() {
        if let deadline = budget.deadline { budget.remaining = max(.zero, deadline - now) }
        budget.deadline = nil
    }

    /// Announces a new end of the background time that runs.
    mutating func updateDeadline() {
        guard isBudgetRunning, !budget.isExpired else { return }
        effects.append(.setTaskPhase(.background, deadline: backgroundDeadline))
    }

    /// The end of background time: that of the budget or of a later wake, bounded by a request to terminate or a sleep.
    var backgroundDeadline: Duration? {
        guard budget.isRunning else { return nil }
        let own = budget.deadline.map { max($0, wakes.latestDeadline ?? $0) }
        return [own, termination.graceDeadline, sleep?.expirationTime].compactMap(\.self).min()
    }

    /// Delivers wakes, and suspends or terminates an idle application.
    mutating func advanceInBackground() -> Bool {
        if deliverNextWake() { return true }
        guard openTasks == 0, wakes.entries.isEmpty, !isHeldByAssertion else {
            suspension.idleSince = nil
            // A task that started after the expiration has a handler that was not yet called.
            if budget.isExpired, sleep == nil { expireBackgroundTime() }
            return false
        }
        budget.killDeadline = nil
        budget.overdueWake = nil
        switch rules.suspensionPolicy {
        case _ where suspension.isRequested: return freezeWhenIdle()
        case .freeze: return freezeWhenIdle()
        case .keepRunning:
            suspension.idleSince = nil
            return false
        case .terminate:
            suspension.idleSince = nil
            // A sleep of the machine does not terminate the application.
            if sleep == nil { terminate(grace: .zero) }
            return sleep == nil
        }
    }

    /// A Boolean value indicating whether an assertion keeps the application running without an open task.
    private var isHeldByAssertion: Bool { !assertions.isEmpty && !budget.isExpired && !suspension.isRequested }

    /// Delivers the oldest undelivered wake; its time limit is independent of the budget.
    ///
    /// During an expiration a wake waits for its end, because it must not give open tasks more time.
    mutating func deliverNextWake() -> Bool {
        guard let index = wakes.firstUndeliveredIndex, !isExpirationUnderWay else { return false }
        let limit = min(rules.limit(of: wakes.entries[index].reason.kind), wakes.entries[index].allowance)
        wakes.entries[index].deadline = now + limit
        if currentState == .background { restartBudget() }
        deliver(.wake(wakes.entries[index].reason), within: limit)
        return true
    }

    private var isExpirationUnderWay: Bool {
        guard currentState == .background, budget.isExpired else { return false }
        return openTasks > 0 || sleep != nil || wakes.entries.contains { $0.deadline != nil }
    }

    /// Grants background time again after an expiration.
    mutating func restartBudget() {
        budget.isExpired = false
        budget.killDeadline = nil
        budget.overdueWake = nil
        suspension.idleSince = nil
        effects.append(.setTaskPhase(.background, deadline: backgroundDeadline))
    }

    /// Expires the background time: calls all handlers and admits no further task.
    ///
    /// Tasks that are open when the machine sleeps continue when it wakes; the process is not killed for them.
    mutating func expireBackgroundTime() {
        if !budget.isExpired {
            budget.isExpired = true
            effects.append(.setTaskPhase(.expiring, deadline: now))
        }
        guard openTasks > 0 || !wakes.entries.isEmpty, budget.killDeadline == nil else { return }
        let deadline = sleep?.releaseTime ?? now + rules.expirationLimit
        if sleep == nil { budget.killDeadline = deadline }
        effects.append(.expireTasks(deadline: deadline))
    }

    /// Records the number of open tasks.
    mutating func openTaskCountChanged(to count: Int) {
        guard isRunning else { return }
        openTasks = max(0, count)
        // A frozen process cannot start a task, so it was frozen inside one, and must continue.
        if currentState == .suspended, openTasks > 0 { thawIntoBackground() }
    }

    /// Charges a wake that was not completed in time to the application, and expires the open tasks.
    mutating func expireOverdueWake() {
        guard let overdue = wakes.entries.first(where: { $0.deadline.map { $0 <= now } ?? false }) else { return }
        guard budget.overdueWake == nil else { return }
        budget.overdueWake = overdue.reason
        effects.append(.penalizeWake(overdue.reason))
        expireBackgroundTime()
    }

    /// Kills the process for tasks or wakes that are open after the expiration.
    mutating func enforceExpiration() {
        if let wake = budget.overdueWake, wakes.entries.contains(where: { $0.reason.id == wake.id }) {
            kill(wake.kind == .session ? .session : .wake)
        } else if openTasks > 0 {
            kill(.backgroundTask)
        } else {
            report(wakes.entries.filter { $0.deadline != nil }.map(\.reason), as: .failed)
            wakes.entries.removeAll { $0.deadline != nil }
            budget.killDeadline = nil
        }
    }
}
