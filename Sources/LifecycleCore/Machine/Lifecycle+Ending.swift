// Termination, sleep of the machine, memory warnings.
extension Lifecycle {
    mutating func terminate(grace: Duration) {
        guard isRunning else { return }
        if goal == .end { return endSooner() }
        (goal, sleep) = (.end, nil)
        ending.graceDeadline = now + grace
        ending.extendAt = now
        extendStop()
    }

    /// Asked a second time: open tasks are expired now.
    private mutating func endSooner() {
        ending.graceDeadline = now
        if spendsBudget { expire() }
    }

    /// In the background, and to end: tasks have their grace, then their handlers, then `willTerminate` comes.
    mutating func end() -> Bool {
        guard ending.exitDeadline == nil else { return false }
        wakes.open.removeAll()
        if openTasks > 0 {
            if budget.isExpired || ending.graceDeadline.map({ $0 <= now }) ?? false { expire() }
            return false
        }
        budget.killDeadline = nil
        effects.append(.phase(.terminating, deadline: now))
        deliver(.willTerminate, within: rules.terminationLimit)
        return true
    }

    mutating func extendStop() {
        guard goal == .end, isRunning, ending.extendAt.map({ $0 <= now }) ?? false else { return }
        effects.append(.extendStop(by: rules.extensionInterval * 2))
        ending.extendAt = now + rules.extensionInterval
    }

    /// Into the background; what is open has until shortly before the machine may be held off no longer.
    mutating func sleepAnnounced(within limit: Duration) {
        guard isRunning, goal != .end, sleep == nil else { return }
        let reserve = min(limit / 2, rules.expiryLimit)
        sleep = SleepState(goal: goal, expireAt: now + limit - reserve, releaseAt: now + limit)
        goal = .background
    }

    mutating func awoke() {
        guard let sleep else { return }
        self.sleep = nil
        if goal == .background { goal = sleep.goal }
        if position == .background, goal == .background { reopenBudget() }
        effects.append(.holdSleep)
    }

    mutating func releaseSleepIfQuiet() {
        guard let state = sleep, !state.isReleased else { return }
        let isQuiet = isInBackground && inFlight == nil && openTasks == 0 && wakes.open.isEmpty
        guard isQuiet || state.releaseAt <= now else { return }
        sleep?.isReleased = true
        budget.killDeadline = nil
        effects.append(.releaseSleep)
    }

    /// Tells a running application, each level at most once in a while.
    mutating func memoryWarning(_ level: Int) {
        guard isRunning, position != .suspended, position != .suspending else { return }
        if let last = warnings[level], now - last < rules.warningInterval { return }
        warnings[level] = now
        effects.append(.memoryWarning(level: level))
    }
}
