// Foreground and background: the target state, and the callbacks that lead to it one by one.
extension Lifecycle {
    /// The state that follows from all facts; a sleep of the machine suspends those of the presentation.
    var targetState: TargetState {
        if isTerminating { return .terminated }
        return stay.sleep == nil ? facts.state : .background
    }

    /// Shows the application with the user's input, after the sleep if the machine is about to sleep.
    mutating func enterForeground() {
        guard isRunning, !isTerminating else { return }
        facts.isVisible = true
        facts.hasFocus = true
        endJobControl()
    }

    /// Makes all transitions towards the target state that are possible now, one callback at a time.
    mutating func advance() {
        while isRunning, pendingCallback == nil, step() {}
        if isRunning { releaseSleepInhibitorIfIdle() }
    }

    /// Makes one transition, and returns whether another may follow.
    private mutating func step() -> Bool {
        switch (currentState, targetState) {
        case (.active, .active): return deliverNextURL() || deliverNextWake()
        case (.active, _): deliver(.willResignActive, within: rules.callbackLimit)
        case (.inactive, .active): return becomeActive()
        case (.inactive, .background), (.inactive, .terminated): enterBackground()
        case (.background, .active), (.background, .inactive): leaveBackground()
        case (.background, .background): return advanceInBackground()
        case (.background, .terminated): return advanceTermination()
        case (.suspending, .active), (.suspending, .inactive), (.suspending, .terminated): cancelFreeze()
        case (.suspended, .terminated): kill(.terminatedWhileSuspended)
        case (.suspended, _): return resumeIfNeeded()
        case (.inactive, .inactive): return deliverNextWake()
        case (.notRunning, _), (.launching, _), (.suspending, .background): return false
        }
        return true
    }

    private mutating func deliverNextURL() -> Bool {
        guard let url = urls.first else { return false }
        deliver(.openURL(url), within: rules.callbackLimit)
        return true
    }

    private mutating func becomeActive() -> Bool {
        if deliverNextURL() { return true }
        currentState = .active
        deliver(.didBecomeActive, within: rules.callbackLimit)
        return true
    }

    private mutating func leaveBackground() {
        stay.leave(at: now)
        suspension.reset()
        effects.append(.setTaskPhase(.foreground, deadline: nil))
        deliver(.willEnterForeground, within: rules.callbackLimit)
    }

    mutating func acknowledge(_ callback: LifecycleCallback) {
        guard pendingCallback?.callback == callback else { return }
        pendingCallback = nil
        switch callback {
        case .launch:
            currentState = .inactive
        case .launchInBackground:
            currentState = .background
            startBudget()
        case .willResignActive, .willEnterForeground: currentState = .inactive
        case .didEnterBackground: effects.append(.saveArchive)
        case .openURL(let url): finishURL(url)
        case .willTerminate:
            termination.exitDeadline = now + rules.terminationLimit
            effects.append(.exitProcess)
        case .didBecomeActive: history.wakeCrashCounts = [:]
        case .wake: break
        }
        if currentState != .launching { history.launchCrashCount = 0 }
    }
}
