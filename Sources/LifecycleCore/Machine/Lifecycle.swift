/// The rules of an application's life: a value that events change, and that says what is to be done.
///
/// It reads no clock and does nothing itself. A host (the supervisor, or the runtime of an application that has none)
/// tells it what happened and when, performs the effects, and calls it again with `.timer` at ``nextDeadline``.
/// Moments are durations since any fixed one; they must not go back, and should stand still while the machine sleeps.
package struct Lifecycle: Sendable, Hashable {
    /// Where the application really is; the callbacks move it.
    enum CurrentState: Sendable, Hashable {
        case notRunning, launching, inactive, active, background, suspending, suspended
    }

    /// Where it is to go.
    enum TargetState: Sendable, Hashable { case active, inactive, background, terminated }

    struct PendingCallback: Sendable, Hashable {
        let callback: LifecycleCallback
        let deadline: Duration
    }

    package let rules: LifecycleRules
    var currentState = CurrentState.notRunning
    var targetState = TargetState.inactive
    var pendingCallback: PendingCallback?
    var urls: [String] = []
    /// Open background tasks, as last told.
    package var openTasks = 0
    var budget: Budget
    var wakes = OpenWakes()
    var suspension = SuspensionState()
    var termination = TerminationState()
    var sleep: SleepState?
    var lastMemoryWarnings: [Int: Duration] = [:]

    /// Ended by the user: nothing but the user starts it again.
    package var wasForceQuit = false
    /// Crashes during launch since the last good one.
    package var launchCrashCount = 0

    /// The time of the event that is handled, and what it leads to.
    var now: Duration = .zero
    var effects: [LifecycleEffect] = []

    package init(rules: LifecycleRules = LifecycleRules()) {
        self.rules = rules
        budget = Budget(remaining: rules.backgroundBudget)
    }

    /// Where the application stands; `terminating` from the request to end on.
    package var state: LifecycleState { targetState == .terminated && isRunning ? .terminating : reachedState }

    /// Where it stands, whether or not it is to end.
    package var reachedState: LifecycleState {
        switch currentState {
        case .notRunning: .notRunning
        case .launching: .launching
        case .inactive: .inactive
        case .active: .active
        case .background: .background
        case .suspending: .suspending
        case .suspended: .suspended
        }
    }

    /// Whether it is out of sight; also while it ends.
    package var isInBackground: Bool { currentState >= .background }

    /// What the application is being told, and has not acknowledged.
    package var unacknowledgedCallback: LifecycleCallback? { pendingCallback?.callback }

    var isRunning: Bool { currentState != .notRunning }

    /// Handles one event and gives what is to be done, in order.
    package mutating func handle(_ event: LifecycleEvent, at moment: Duration) -> [LifecycleEffect] {
        now = max(now, moment)
        effects = []
        apply(event)
        advance()
        if event == .deadlineReached { handleRemainingDeadlines() }
        defer { effects = [] }
        return effects
    }

    /// One deadline may uncover the next: after a long sleep of the thread that keeps the time, several have come.
    private mutating func handleRemainingDeadlines() {
        for _ in 0..<8 {
            guard let deadline = nextDeadline, deadline <= now else { return }
            handleDeadlines()
            advance()
        }
    }

    private mutating func apply(_ event: LifecycleEvent) {
        switch event {
        case .launch, .wake, .openURL, .wakeCompleted: applyStart(event)
        case .activate, .deactivate, .enterBackground, .enterForeground: applyPresentation(event)
        case .callbackAcknowledged(let callback): acknowledge(callback)
        case .openTaskCountChanged(let count): openTaskCountChanged(to: count)
        case .backgroundTimeRevoked: if isBudgetRunning { expireBackgroundTime() }
        case .systemWillSleep(let limit): prepareForSleep(within: limit)
        case .systemDidWake: resumeAfterSleep()
        case .memoryWarning(let level): deliverMemoryWarning(level: level)
        case .suspend, .resumeInBackground, .processFrozen, .processAdopted: applySuspension(event)
        case .terminate(let grace): terminate(grace: grace)
        case .memoryExhausted: if isRunning { kill(.memory) }
        case .forceQuit: forceQuit()
        case .processExited(let status): recordExit(status: status)
        case .deadlineReached: handleDeadlines()
        }
    }
}

extension Lifecycle.CurrentState: Comparable {}

extension Lifecycle {
    /// Starts a new life of the process: nothing of the last one is left but what outlives it.
    mutating func reset(to position: CurrentState, target: TargetState) {
        var fresh = Lifecycle(rules: rules)
        (fresh.currentState, fresh.targetState) = (position, target)
        (fresh.wasForceQuit, fresh.launchCrashCount) = (wasForceQuit, launchCrashCount)
        (fresh.now, fresh.effects) = (now, effects)
        self = fresh
    }

    mutating func deliver(_ callback: LifecycleCallback, within limit: Duration) {
        pendingCallback = PendingCallback(callback: callback, deadline: now + limit)
        effects.append(.deliver(callback, deadline: now + limit))
    }

    mutating func kill(_ reason: KillReason) {
        let duringLaunch = currentState == .launching
        let killed = TerminationState.KilledProcess(reason: reason, wasLaunching: duringLaunch, openTasks: openTasks)
        effects.append(.killProcess(reason))
        reset(to: .notRunning, target: .inactive)
        termination.killedProcess = killed
        if duringLaunch, case .watchdog = reason { recordLaunchFailure() }
    }

    mutating func recordLaunchFailure() {
        launchCrashCount += 1
        effects.append(.deleteArchive)
    }
}
