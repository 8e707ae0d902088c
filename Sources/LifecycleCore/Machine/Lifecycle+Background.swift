// Time in the background: budget, wakes, expiry.
extension Lifecycle {
    mutating func enterBackground() {
        position = .background
        openBudget()
        deliver(.didEnterBackground, within: rules.backgroundLimit)
    }

    /// Starts the budget; refilled only by a stay in the foreground that was more than a glance.
    mutating func openBudget() {
        let stay = budget.foregroundSince.map { now - $0 }
        if stay.map({ $0 >= rules.refillTime }) ?? true { budget.left = rules.budget }
        budget.deadline = now + budget.left
        for index in wakes.open.indices where wakes.open[index].deadline != nil {
            wakes.open[index].deadline = now + min(rules.wakeLimit, wakes.open[index].allowance)
        }
        effects.append(.phase(.background, deadline: backgroundDeadline))
    }

    /// Ends the stay in the background; what is left is kept for a return that comes too soon.
    mutating func closeBudget() {
        pauseBudget()
        budget = Budget(left: budget.left, foregroundSince: now)
        (suspension.quietSince, suspension.retryAt) = (nil, nil)
    }

    mutating func pauseBudget() {
        if let deadline = budget.deadline { budget.left = max(.zero, deadline - now) }
        budget.deadline = nil
    }

    /// When background time ends: the budget's, or a wake's where that is later, or what a request to stop allows.
    var backgroundDeadline: Duration? {
        guard let own = budget.deadline else { return nil }
        let deadline = max(own, wakes.lastDeadline ?? own)
        return min(deadline, ending.graceDeadline ?? deadline, sleep?.expireAt ?? deadline)
    }

    /// In the background, and to stay there: hands over wakes, and sees when nothing is left to do.
    mutating func stayInBackground() -> Bool {
        if deliverWake() { return true }
        guard openTasks == 0, wakes.open.isEmpty else {
            suspension.quietSince = nil
            // What began while time ran out: its handler has not been called.
            if budget.isExpired, sleep == nil { expire() }
            return false
        }
        (budget.killDeadline, budget.overdueWake) = (nil, nil)
        switch rules.suspension {
        case _ where suspension.isRequested: return freezeWhenQuiet()
        case .freezes: return freezeWhenQuiet()
        case .staysRunning:
            suspension.quietSince = nil
            return false
        case .ends:
            suspension.quietSince = nil
            // A machine about to sleep is no reason to end.
            if sleep == nil { terminate(grace: .zero) }
            return sleep == nil
        }
    }

    /// Hands over the oldest wake that was not; it has its own time, also where the budget is spent.
    mutating func deliverWake() -> Bool {
        guard let index = wakes.undelivered else { return false }
        let limit = min(rules.wakeLimit, wakes.open[index].allowance)
        wakes.open[index].deadline = now + limit
        if position == .background { reopenBudget() }
        deliver(.wake(wakes.open[index].reason), within: limit)
        return true
    }

    /// New time although an expiry had begun.
    mutating func reopenBudget() {
        (budget.isExpired, budget.killDeadline, budget.overdueWake) = (false, nil, nil)
        suspension.quietSince = nil
        effects.append(.phase(.background, deadline: backgroundDeadline))
    }

    /// Time is up: all handlers are called, and nothing new begins.
    ///
    /// A machine that falls asleep kills nobody: what is open goes on when it wakes.
    mutating func expire() {
        if !budget.isExpired {
            budget.isExpired = true
            effects.append(.phase(.expiring, deadline: now))
        }
        guard openTasks > 0 || !wakes.open.isEmpty, budget.killDeadline == nil else { return }
        let deadline = sleep?.releaseAt ?? now + rules.expiryLimit
        if sleep == nil { budget.killDeadline = deadline }
        effects.append(.expireTasks(deadline: deadline))
    }

    /// The number of open tasks changed.
    mutating func tasksChanged(_ count: Int) {
        guard isRunning else { return }
        openTasks = max(0, count)
        // Cannot be, so it was frozen inside a task after all: it must go on.
        if position == .suspended, openTasks > 0 { thawIntoBackground() }
    }

    /// A wake was not completed in time: it counts against the application, and expires what is open.
    mutating func expireWake() {
        guard let late = wakes.open.first(where: { $0.deadline.map { $0 <= now } ?? false }) else { return }
        guard budget.overdueWake == nil else { return }
        budget.overdueWake = late.reason
        effects.append(.penalize(late.reason))
        expire()
    }

    /// The last moment after an expiry: what is still open costs the process its life.
    mutating func enforceExpiry() {
        if let wake = budget.overdueWake, wakes.open.contains(where: { $0.reason == wake }) {
            kill(wake.kind == .session ? .session : .wake)
        } else if openTasks > 0 {
            kill(.backgroundTask)
        } else {
            wakes.open.removeAll { $0.deadline != nil }
            budget.killDeadline = nil
        }
    }
}
