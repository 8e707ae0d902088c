// Who is seen: the goal that the presenter sets, and the callbacks that lead there one after the other.
extension Lifecycle {
    mutating func applyPresentation(_ event: LifecycleEvent) {
        guard isRunning, goal != .end else { return }
        if event == .enterForeground { return show() }
        // What changes while the machine sleeps is where the application goes back to.
        if let state = sleep {
            sleep?.goal = Self.goal(after: event, from: state.goal)
        } else {
            goal = Self.goal(after: event, from: goal)
        }
    }

    private static func goal(after event: LifecycleEvent, from goal: Goal) -> Goal {
        switch (event, goal) {
        case (.activate, .inactive): .active
        case (.deactivate, .active): .inactive
        case (.enterBackground, _): .background
        default: goal
        }
    }

    /// Brings it before the user; when the machine is awake again where it is about to sleep.
    mutating func show() {
        guard goal != .end else { return }
        if sleep == nil { goal = .active } else { sleep?.goal = .active }
        (suspension.isRequested, ending.graceDeadline) = (false, nil)
    }

    /// Takes all steps towards the goal that are possible now; one callback at a time.
    mutating func advance() {
        while isRunning, inFlight == nil, step() {}
        if isRunning { releaseSleepIfQuiet() }
    }

    /// Takes one step; gives whether there may be another.
    private mutating func step() -> Bool {
        switch (position, goal) {
        case (.active, .active): return deliverURL() || deliverWake()
        case (.active, _): deliver(.willResignActive, within: rules.callbackLimit)
        case (.inactive, .active): return becomeActive()
        case (.inactive, .background), (.inactive, .end): enterBackground()
        case (.background, .active), (.background, .inactive): leaveBackground()
        case (.background, .background): return stayInBackground()
        case (.background, .end): return end()
        case (.suspending, .active), (.suspending, .inactive), (.suspending, .end): cancelFreeze()
        case (.suspended, .end): kill(.terminatedWhileSuspended)
        case (.suspended, _): return resume()
        case (.inactive, .inactive): return deliverWake()
        case (.notRunning, _), (.launching, _), (.suspending, .background): return false
        }
        return true
    }

    private mutating func deliverURL() -> Bool {
        guard let url = urls.first else { return false }
        deliver(.openURL(url), within: rules.callbackLimit)
        return true
    }

    private mutating func becomeActive() -> Bool {
        if deliverURL() { return true }
        position = .active
        deliver(.didBecomeActive, within: rules.callbackLimit)
        return true
    }

    private mutating func leaveBackground() {
        closeBudget()
        effects.append(.phase(.foreground, deadline: nil))
        deliver(.willEnterForeground, within: rules.callbackLimit)
    }

    mutating func acknowledged(_ callback: Callback) {
        guard inFlight?.callback == callback else { return }
        inFlight = nil
        switch callback {
        case .launch:
            position = .inactive
        case .launchInBackground:
            position = .background
            openBudget()
        case .willResignActive, .willEnterForeground: position = .inactive
        case .didEnterBackground: effects.append(.saveArchive)
        case .openURL(let url): if urls.first == url { urls.removeFirst() }
        case .willTerminate:
            ending.exitDeadline = now + rules.terminationLimit
            effects.append(.finish)
        case .didBecomeActive, .wake: break
        }
        if position != .launching { launchCrashes = 0 }
    }
}
