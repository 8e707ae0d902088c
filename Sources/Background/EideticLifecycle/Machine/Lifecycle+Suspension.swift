// Suspension: freeze, verify, commit, and resume.
extension Lifecycle {
    mutating func suspend(within limit: Duration) {
        guard isRunning, !isTerminating else { return }
        facts.isHeldByJobControl = true
        suspension.isRequested = true
        // The grace period starts with the request; callbacks on the way have limits of their own.
        stay.graceDeadline = now + limit
        updateDeadline()
    }

    mutating func resumeInBackground() {
        guard isRunning, !isTerminating else { return }
        suspension.isRequested = false
        stay.graceDeadline = nil
        continueInBackground()
    }

    /// Ends the hold of job control; the other facts decide whether the application is active again.
    mutating func resumeInForeground() {
        guard isRunning, !isTerminating else { return }
        endJobControl()
        if targetState == .background { continueInBackground() }
    }

    mutating func endJobControl() {
        facts.isHeldByJobControl = false
        suspension.isRequested = false
        stay.graceDeadline = nil
    }

    private mutating func continueInBackground() {
        switch currentState {
        case .suspended: thawIntoBackground()
        case .suspending: cancelFreeze()
        // The grace period may have expired before the process was stopped.
        case .background where stay.isRunning && stay.sleep == nil && stay.overdueWake == nil: restartBudget()
        default: break
        }
    }

    /// Freezes the process after the idle interval; immediately if the time has expired or job control requests it.
    mutating func freezeWhenIdle() -> Bool {
        guard suspension.beginFreeze(atOnce: stay.isExpired, under: rules, at: now) else { return false }
        currentState = .suspending
        effects.append(.freezeProcess)
        return false
    }

    mutating func commitFreeze(openTasks count: Int, blocksOthers: Bool) {
        guard currentState == .suspending else { return }
        stay.openTasks = count
        suspension.freezeDeadline = nil
        if blocksOthers { return handleHeldLocks() }
        guard stay.isIdle else { return cancelFreeze() }
        currentState = .suspended
        stay.suspend(at: now)
        suspension = SuspensionProgress()
        effects.append(.commitSuspension)
    }

    private mutating func handleHeldLocks() {
        guard suspension.warnAboutLocks(under: rules, at: now) else { return kill(.lockHeld) }
        effects.append(.warnAboutLocks)
        cancelFreeze()
    }

    /// Cancels a freeze, because a task has started or the suspension is no longer due.
    mutating func cancelFreeze() {
        currentState = .background
        suspension.cancelFreeze()
        effects += [stay.phase, .thawProcess]
    }

    mutating func handleFreezeFailure() {
        cancelFreeze()
        suspension.retry(at: now + rules.freezeRetryInterval)
        effects.append(.throttleProcess)
    }

    /// Resumes a suspended application if its target state or a wake requires it.
    mutating func resumeIfNeeded() -> Bool {
        guard targetState != .background || !stay.wakes.isEmpty else { return false }
        thawIntoBackground()
        return true
    }

    /// Delivers the notices that were held, and resumes in the background: they are there when the process continues.
    mutating func thawIntoBackground() {
        currentState = .background
        stay.resume(at: now)
        effects += [stay.phase, .deliverNotices, .thawProcess]
    }

    /// Takes over a process from an earlier supervisor: its state, its open wakes and its assertions.
    ///
    /// One that runs in the background receives the full background time, and each open wake its full limit.
    mutating func adopt(_ found: AdoptedProcess) {
        abandonOpenWork()
        abandonWaitingLaunch(because: .alreadyRunning)
        switch found.state {
        case .active: reset(to: .active, isVisible: true)
        case .inactive: reset(to: .inactive, isVisible: true)
        case .background: reset(to: .background, isVisible: false)
        case .suspended: reset(to: .suspended, isVisible: false)
        }
        if found.state == .inactive { facts.hasFocus = false }
        process = process.next
        stay.openTasks = max(0, found.openTasks)
        stay.assertions = found.assertions.intersection(rules.declaredAssertions)
        let deadline = now + rules.wakeLimit
        stay.wakes = OpenWakes(found.wakes.map { OpenWake($0, allowance: rules.wakeLimit, deadline: deadline) })
        if isInBackground { startAdoptedBudget() } else { effects.append(.setTaskPhase(.foreground, deadline: nil)) }
    }

    /// A process that was found frozen with an open task or wake must continue.
    private mutating func startAdoptedBudget() {
        if currentState == .background { return startBudget() }
        if !stay.isIdle { thawIntoBackground() }
    }
}
