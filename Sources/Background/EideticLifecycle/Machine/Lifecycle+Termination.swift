// Termination, sleep of the machine, memory warnings.
extension Lifecycle {
    mutating func terminate(grace: Duration) {
        guard isRunning else { return }
        if isTerminating { return terminateSooner() }
        isTerminating = true
        sleep = nil
        termination.graceDeadline = now + grace
        updateDeadline()
        termination.nextExtension = now
        extendStopTimeout()
    }

    /// Expires the open tasks at the second request to terminate.
    private mutating func terminateSooner() {
        termination.graceDeadline = now
        if isBudgetRunning, !isExiting { expireBackgroundTime() }
    }

    /// A Boolean value indicating whether `willTerminate` was delivered: no task can be open, whatever is reported.
    var isExiting: Bool { pendingCallback?.callback == .willTerminate || termination.exitDeadline != nil }

    /// Moves a terminating application in the background to `willTerminate`, after its tasks have ended or expired.
    mutating func advanceTermination() -> Bool {
        guard termination.exitDeadline == nil else { return false }
        report(wakes.entries.map(\.reason), as: .failed)
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
        guard isTerminating, isRunning, termination.nextExtension.map({ $0 <= now }) ?? false else {
            return
        }
        effects.append(.extendStopTimeout(by: rules.stopExtensionInterval * 2))
        termination.nextExtension = now + rules.stopExtensionInterval
    }

    /// Moves the application to the background; open tasks expire shortly before the machine may sleep.
    mutating func prepareForSleep(within limit: Duration) {
        guard isRunning, !isTerminating, sleep == nil else { return }
        let reserve = min(limit / 2, rules.expirationLimit)
        sleep = SleepState(expirationTime: now + limit - reserve, releaseTime: now + limit)
        updateDeadline()
    }

    mutating func resumeAfterSleep() {
        guard sleep != nil else { return }
        sleep = nil
        if currentState == .background, targetState == .background { restartBudget() }
        effects.append(.acquireSleepInhibitor)
    }

    mutating func releaseSleepInhibitorIfIdle() {
        guard let state = sleep, !state.isReleased else { return }
        let isIdle = isInBackground && pendingCallback == nil && openTasks == 0 && wakes.entries.isEmpty
        guard isIdle || state.releaseTime <= now else { return }
        sleep?.isReleased = true
        budget.killDeadline = nil
        effects.append(.releaseSleepInhibitor)
    }

    /// Warns a running application, at most once per level and interval.
    mutating func deliverMemoryWarning(level: Int) {
        guard isRunning, currentState != .suspended, currentState != .suspending else { return }
        if let last = lastMemoryWarnings[level], now - last < rules.memoryWarningInterval { return }
        lastMemoryWarnings[level] = now
        effects.append(.deliverMemoryWarning(level: level))
    }
}
