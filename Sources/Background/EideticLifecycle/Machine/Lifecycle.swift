/// The state machine of an application's lifecycle: a value that handles events and returns effects.
///
/// It reads no clock and performs no effect. Its host (the supervisor, or the runtime inside an unsupervised
/// application) passes each event with its time, performs the effects, and passes `.deadlineReached` at
/// ``nextDeadline``. Times are durations since a fixed moment; they must not decrease, and should stop while the
/// machine sleeps.
package struct Lifecycle: Sendable, Hashable {
    /// The state that the acknowledged callbacks have led to.
    enum CurrentState: Sendable, Hashable {
        case notRunning, launching, inactive, active, background, suspending, suspended
    }

    /// The state that the machine moves towards.
    enum TargetState: Sendable, Hashable { case active, inactive, background, terminated }

    struct PendingCallback: Sendable, Hashable {
        let callback: LifecycleCallback
        let limit: Duration
        var deadline: Duration
    }

    package var rules: LifecycleRules
    var currentState = CurrentState.notRunning
    package internal(set) var facts = PresentationFacts()
    var isTerminating = false
    var pendingCallback: PendingCallback?
    /// The process that the state is that of; after its end, the last one.
    package internal(set) var process = ProcessIdentity(rawValue: 0)
    var urls = URLQueue()
    /// A launch that waits for the end of the process.
    package internal(set) var waiting = WaitingLaunch()
    package internal(set) var stay: BackgroundStay
    package internal(set) var suspension = SuspensionProgress()
    var termination = TerminationProgress()
    var memoryWarnings = MemoryWarnings()
    package var history = LaunchHistory()

    /// The time and the effects of the event that is being handled.
    var now: Duration = .zero
    var effects: [LifecycleEffect] = []

    package init(rules: LifecycleRules = LifecycleRules()) {
        self.rules = rules
        stay = BackgroundStay(time: rules.backgroundBudget)
    }

    /// The current state; `terminating` after a request to terminate.
    package var state: LifecycleState { isTerminating && isRunning ? .terminating : reachedState }

    /// The current state, regardless of a request to terminate.
    package var reachedState: LifecycleState {
        switch currentState {
        case .notRunning: .notRunning
        case .launching: isLaunchedInBackground ? .launchingInBackground : .launching
        case .inactive: .inactive
        case .active: .active
        case .background: .background
        case .suspending: .suspending
        case .suspended: .suspended
        }
    }

    /// A Boolean value indicating whether the launch that is under way shows nothing.
    private var isLaunchedInBackground: Bool {
        if case .launchInBackground? = pendingCallback?.callback { true } else { false }
    }

    /// A Boolean value indicating whether the application is in the background, which includes its termination.
    package var isInBackground: Bool { currentState >= .background }

    /// A Boolean value indicating whether the process is killed soon, unless its tasks end.
    package var isExpiring: Bool { stay.killDeadline != nil }

    /// The callback that the application has not yet acknowledged.
    package var unacknowledgedCallback: LifecycleCallback? { pendingCallback?.callback }

    var isRunning: Bool { currentState != .notRunning }

    /// Handles an event and returns its effects, in the order in which the host performs them.
    package mutating func handle(_ event: LifecycleEvent, at moment: Duration) -> [LifecycleEffect] {
        now = max(now, moment)
        effects = []
        // An event of an earlier process says nothing about this one.
        if event.process.map({ $0 == process }) ?? true { apply(event) }
        advance()
        if event == .deadlineReached { handleRemainingDeadlines() }
        defer { effects = [] }
        return effects
    }

    /// Handles the deadlines that an earlier one uncovers: after a delay of the host several may have passed.
    private mutating func handleRemainingDeadlines() {
        for _ in 0..<8 {
            guard let deadline = nextDeadline, deadline <= now else { return }
            handleDeadlines()
            advance()
        }
    }

    private mutating func apply(_ event: LifecycleEvent) {
        switch event {
        case .launch, .launchInBackground, .launchBackgroundJob, .processConnected, .processIntroduced, .wake, .openURL:
            applyStart(event)
        case .wakeCompleted, .urlAnswered, .assertionChanged: applyAnswer(event)
        case .activate, .deactivate, .show, .enterBackground, .enterForeground, .lock, .unlock:
            applyPresentation(event)
        case .callbackAcknowledged(let callback, _): acknowledge(callback)
        case .openTaskCountChanged(let count, _): openTaskCountChanged(to: count)
        case .backgroundTimeRevoked: if isBudgetRunning, !isExiting { expireBackgroundTime() }
        case .systemWillSleep(let limit): prepareForSleep(within: limit)
        case .systemDidWake: resumeAfterSleep()
        case .memoryWarning(let level): deliverMemoryWarning(level: level)
        case .suspend, .resumeInBackground, .resumeInForeground, .processFrozen, .processAdopted:
            applySuspension(event)
        case .terminate(let grace): terminate(grace: grace)
        case .memoryExhausted: if isRunning { kill(.memory) }
        case .forceQuit: forceQuit()
        case .processExited(_, let status): recordExit(status: status)
        case .processDidNotStart: recordMissingStart()
        case .deadlineReached: handleDeadlines()
        }
    }
}

extension Lifecycle.CurrentState: Comparable {}

extension Lifecycle {
    /// Returns to the initial values, except for those that outlive the process, such as a locked screen.
    mutating func reset(to current: CurrentState, isVisible: Bool) {
        var fresh = Lifecycle(rules: rules)
        fresh.currentState = current
        fresh.facts = PresentationFacts(isVisible: isVisible, hasFocus: isVisible, isLocked: facts.isLocked)
        fresh.history = history
        fresh.process = process
        fresh.waiting = waiting
        fresh.now = now
        fresh.effects = effects
        self = fresh
    }

    mutating func deliver(_ callback: LifecycleCallback, within limit: Duration) {
        pendingCallback = PendingCallback(callback: callback, limit: limit, deadline: now + limit)
        effects.append(.deliver(callback, deadline: now + limit))
    }

    /// Starts the limits again that have passed, and for which the process would be killed: it could not run, as a
    /// debugger holds it.
    package mutating func restartPassedLimits(at moment: Duration) {
        if let pending = pendingCallback, pending.deadline <= moment { restartCallbackLimit(at: moment) }
        if let end = termination.exitDeadline, end <= moment {
            termination.exitDeadline = moment + rules.terminationLimit
        }
        stay.restartKillLimit(rules.expirationLimit, at: moment)
    }

    /// Starts the limit of the pending callback again: the host has delivered it only now.
    package mutating func restartCallbackLimit(at moment: Duration) {
        guard let limit = pendingCallback?.limit else { return }
        pendingCallback?.deadline = moment + limit
    }
}
