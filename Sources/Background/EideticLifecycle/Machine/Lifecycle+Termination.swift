// Termination, sleep of the machine, memory warnings.
extension Lifecycle {
    mutating func terminate(grace: Duration) {
        guard isRunning else { return }
        if isTerminating { return terminateSooner() }
        isTerminating = true
        stay.sleep = nil
        stay.graceDeadline = now + grace
        updateDeadline()
        termination.nextExtension = now
        extendStopTimeout()
    }

    /// Expires the open tasks at the second request to terminate.
    private mutating func terminateSooner() {
        stay.graceDeadline = now
        if isBudgetRunning, !isExiting { expireBackgroundTime() }
    }

    /// A Boolean value indicating whether `willTerminate` was delivered: no task can be open, whatever is reported.
    var isExiting: Bool { pendingCallback?.callback == .willTerminate || termination.exitDeadline != nil }

    /// Moves a terminating application in the background to `willTerminate`, after its tasks have ended or expired.
    mutating func advanceTermination() -> Bool {
        guard termination.exitDeadline == nil else { return false }
        report(stay.wakes.takeAll().map(\.reason), as: .failed)
        if stay.openTasks > 0 {
            if stay.isExpired || stay.graceDeadline.map({ $0 <= now }) ?? false { expireBackgroundTime() }
            return false
        }
        stay.endKillLimit()
        effects.append(.setTaskPhase(.terminating, deadline: now))
        deliver(.willTerminate, within: rules.terminationLimit)
        return true
    }

    mutating func extendStopTimeout() {
        let interval = rules.stopExtensionInterval
        guard isTerminating, isRunning, termination.takeExtension(interval: interval, at: now) else { return }
        effects.append(.extendStopTimeout(by: interval * 2))
    }

    /// Moves the application to the background; open tasks expire shortly before the machine may sleep.
    mutating func prepareForSleep(within limit: Duration) {
        guard isRunning, !isTerminating, stay.sleep == nil else { return }
        stay.sleep = SleepProgress(within: limit, reserve: rules.expirationLimit, at: now)
        updateDeadline()
    }

    mutating func resumeAfterSleep() {
        guard stay.sleep != nil else { return }
        stay.sleep = nil
        if currentState == .background, targetState == .background { restartBudget() }
        effects.append(.acquireSleepInhibitor)
    }

    mutating func releaseSleepInhibitorIfIdle() {
        guard let deadline = stay.sleep?.deadline else { return }
        let isIdle = isInBackground && pendingCallback == nil && stay.isIdle
        guard isIdle || deadline <= now else { return }
        stay.sleep?.isReleased = true
        stay.endKillLimit()
        effects.append(.releaseSleepInhibitor)
    }

    /// Warns a running application, at most once per level and interval.
    mutating func deliverMemoryWarning(level: Int) {
        guard isRunning, currentState < .suspending else { return }
        guard memoryWarnings.record(level, interval: rules.memoryWarningInterval, at: now) else { return }
        effects.append(.deliverMemoryWarning(level: level))
    }
}
