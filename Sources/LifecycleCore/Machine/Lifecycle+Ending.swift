// Termination, sleep of the machine, memory warnings.
extension Lifecycle {
    mutating func terminate(grace: Duration) {
        guard isRunning else { return }
        if targetState == .terminated { return terminateSooner() }
        (targetState, sleep) = (.terminated, nil)
        termination.graceDeadline = now + grace
        termination.nextExtension = now
        extendStopTimeout()
    }

    /// Asked a second time: open tasks are expired now.
    private mutating func terminateSooner() {
        termination.graceDeadline = now
        if isBudgetRunning { expireBackgroundTime() }
    }

    /// In the background, and to end: tasks have their grace, then their handlers, then `willTerminate` comes.
    mutating func advanceTermination() -> Bool {
        guard termination.exitDeadline == nil else { return false }
        wakes.entries.removeAll()
        if openTasks > 0 {
            if budget.isExpired || termination.graceDeadline.map({ $0 <= now }) ?? false { expireBackgroundTime() }
            return false
        }
        budget.killDeadline = nil
        effects.append(.setTaskPhase(.terminating, deadline: now))
        deliver(.willTerminate, within: rules.terminationLimit)
        return true
    }

    mutating func extendStopTimeout() {
        guard targetState == .terminated, isRunning, termination.nextExtension.map({ $0 <= now }) ?? false else {
            return
        }
        effects.append(.extendStopTimeout(by: rules.stopExtensionInterval * 2))
        termination.nextExtension = now + rules.stopExtensionInterval
    }

    /// Into the background; what is open has until shortly before the machine may be held off no longer.
    mutating func prepareForSleep(within limit: Duration) {
        guard isRunning, targetState != .terminated, sleep == nil else { return }
        let reserve = min(limit / 2, rules.expirationLimit)
        sleep = SleepState(targetState: targetState, expirationTime: now + limit - reserve, releaseTime: now + limit)
        targetState = .background
    }

    mutating func resumeAfterSleep() {
        guard let sleep else { return }
        self.sleep = nil
        if targetState == .background { targetState = sleep.targetState }
        if currentState == .background, targetState == .background { restartBudget() }
        effects.append(.acquireSleepInhibitor)
    }

    mutating func releaseSleepInhibitorIfIdle() {
        guard let state = sleep, !state.isReleased else { return }
        let isQuiet = isInBackground && pendingCallback == nil && openTasks == 0 && wakes.entries.isEmpty
        guard isQuiet || state.releaseTime <= now else { return }
        sleep?.isReleased = true
        budget.killDeadline = nil
        effects.append(.releaseSleepInhibitor)
    }

    /// Tells a running application, each level at most once in a while.
    mutating func deliverMemoryWarning(level: Int) {
        guard isRunning, currentState != .suspended, currentState != .suspending else { return }
        if let last = lastMemoryWarnings[level], now - last < rules.memoryWarningInterval { return }
        lastMemoryWarnings[level] = now
        effects.append(.deliverMemoryWarning(level: level))
    }
}
