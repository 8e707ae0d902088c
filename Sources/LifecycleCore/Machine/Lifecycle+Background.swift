// Time in the background: budget, wakes, expiry.
extension Lifecycle {
    mutating func enterBackground() {
        currentState = .background
        startBudget()
        deliver(.didEnterBackground, within: rules.backgroundLimit)
    }

    /// Starts the budget; refilled only by a stay in the foreground that was more than a glance.
    mutating func startBudget() {
        let stay = budget.foregroundSince.map { now - $0 }
        if stay.map({ $0 >= rules.budgetRefillTime }) ?? true { budget.remaining = rules.backgroundBudget }
        budget.deadline = now + budget.remaining
        for index in wakes.entries.indices where wakes.entries[index].deadline != nil {
            wakes.entries[index].deadline = now + min(rules.wakeLimit, wakes.entries[index].allowance)
        }
        effects.append(.setTaskPhase(.background, deadline: backgroundDeadline))
    }

    /// Ends the stay in the background; what is left is kept for a return that comes too soon.
    mutating func stopBudget() {
        pauseBudget()
        budget = Budget(remaining: budget.remaining, foregroundSince: now)
        (suspension.idleSince, suspension.retryTime) = (nil, nil)
    }

    mutating func pauseBudget() {
        if let deadline = budget.deadline { budget.remaining = max(.zero, deadline - now) }
        budget.deadline = nil
    }

    /// When background time ends: the budget's, or a wake's where that is later, or what a request to stop allows.
    var backgroundDeadline: Duration? {
        guard let own = budget.deadline else { return nil }
        let deadline = max(own, wakes.latestDeadline ?? own)
        return min(deadline, termination.graceDeadline ?? deadline, sleep?.expirationTime ?? deadline)
    }

    /// In the background, and to stay there: hands over wakes, and sees when nothing is left to do.
    mutating func advanceInBackground() -> Bool {
        if deliverNextWake() { return true }
        guard openTasks == 0, wakes.entries.isEmpty else {
            suspension.idleSince = nil
            // What began while time ran out: its handler has not been called.
            if budget.isExpired, sleep == nil { expireBackgroundTime() }
            return false
        }
        (budget.killDeadline, budget.overdueWake) = (nil, nil)
        switch rules.suspensionPolicy {
        case _ where suspension.isRequested: return freezeWhenIdle()
        case .freeze: return freezeWhenIdle()
        case .keepRunning:
            suspension.idleSince = nil
            return false
        case .terminate:
            suspension.idleSince = nil
            // A machine about to sleep is no reason to end.
            if sleep == nil { terminate(grace: .zero) }
            return sleep == nil
        }
    }

    /// Hands over the oldest wake that was not; it has its own time, also where the budget is spent.
    mutating func deliverNextWake() -> Bool {
        guard let index = wakes.firstUndeliveredIndex else { return false }
        let limit = min(rules.wakeLimit, wakes.entries[index].allowance)
        wakes.entries[index].deadline = now + limit
        if currentState == .background { restartBudget() }
        deliver(.wake(wakes.entries[index].reason), within: limit)
        return true
    }

    /// New time although an expiry had begun.
    mutating func restartBudget() {
        (budget.isExpired, budget.killDeadline, budget.overdueWake) = (false, nil, nil)
        suspension.idleSince = nil
        effects.append(.setTaskPhase(.background, deadline: backgroundDeadline))
    }

    /// Time is up: all handlers are called, and nothing new begins.
    ///
    /// A machine that falls asleep kills nobody: what is open goes on when it wakes.
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

    /// The number of open tasks changed.
    mutating func openTaskCountChanged(to count: Int) {
        guard isRunning else { return }
        openTasks = max(0, count)
        // Cannot be, so it was frozen inside a task after all: it must go on.
        if currentState == .suspended, openTasks > 0 { thawIntoBackground() }
    }

    /// A wake was not completed in time: it counts against the application, and expires what is open.
    mutating func expireOverdueWake() {
        guard let late = wakes.entries.first(where: { $0.deadline.map { $0 <= now } ?? false }) else { return }
        guard budget.overdueWake == nil else { return }
        budget.overdueWake = late.reason
        effects.append(.penalizeWake(late.reason))
        expireBackgroundTime()
    }

    /// The last moment after an expiry: what is still open costs the process its life.
    mutating func enforceExpiration() {
        if let wake = budget.overdueWake, wakes.entries.contains(where: { $0.reason == wake }) {
            kill(wake.kind == .session ? .session : .wake)
        } else if openTasks > 0 {
            kill(.backgroundTask)
        } else {
            wakes.entries.removeAll { $0.deadline != nil }
            budget.killDeadline = nil
        }
    }
}
