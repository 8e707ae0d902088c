/// The state machine of an application's lifecycle: a value that handles events and returns effects.
///
/// It reads no clock and performs no effect. Its host (the supervisor, or the runtime inside an unsupervised
/// application) passes each event with its time, performs the effects, and passes `.deadlineReached` at
/// ``nextDeadline``. Times are durations since a fixed moment; they must not decrease, and should stop while the
/// machine sleeps.
package struct Lifecycle: Sendable, Hashable {
    package var rules: LifecycleRules
    var currentState = ReachedState.notRunning
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
        if case .launchInBackground? = pendingCallback?.callback, currentState == .launching {
            return .launchingInBackground
        }
        return currentState.visible
    }

    /// A Boolean value indicating whether the application is in the background, which includes its termination.
    package var isInBackground: Bool { currentState >= .background }

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
        case .launch(let reason): launch(for: reason)
        case .launchInBackground(let reason): launchInBackground(for: reason)
        case .launchBackgroundJob: launchBackgroundJob()
        case .processConnected(let inBackground): connect(inBackground: inBackground)
        case .processIntroduced: introduce()
        case .openURL(let url): launch(for: .url(url))
        case .wake(let reason, let allowance): wake(for: reason, allowance: allowance)
        case .wakeCompleted(let id, let result, _): completeWake(id, result: result)
        case .urlAnswered(let id, let isHandled, _): answerURL(id, isHandled: isHandled)
        case .assertionChanged(let assertion, let isHeld, _): changeAssertion(assertion, isHeld: isHeld)
        case .activate, .deactivate: if isRunning { facts.hasFocus = event == .activate }
        case .show, .enterBackground: if isRunning { facts.isVisible = event == .show }
        case .enterForeground: enterForeground()
        // The screen is locked whether the application runs or not.
        case .lock, .unlock: facts.isLocked = event == .lock
        case .callbackAcknowledged(let callback, _): acknowledge(callback)
        case .openTaskCountChanged(let count, _): openTaskCountChanged(to: count)
        case .backgroundTimeRevoked: if isBudgetRunning, !isExiting { expireBackgroundTime() }
        case .systemWillSleep(let limit): prepareForSleep(within: limit)
        case .systemDidWake: resumeAfterSleep()
        case .memoryWarning(let level): deliverMemoryWarning(level: level)
        case .suspend(let limit): suspend(within: limit)
        case .resumeInBackground: resumeInBackground()
        case .resumeInForeground: resumeInForeground()
        case .processFrozen(_, let tasks, let blocksOthers): commitFreeze(openTasks: tasks, blocksOthers: blocksOthers)
        case .processAdopted(let found): adopt(found)
        case .terminate(let grace): terminate(grace: grace)
        case .memoryExhausted: if isRunning { kill(.memory) }
        case .forceQuit: forceQuit()
        case .processExited(_, let status): recordExit(status: status)
        case .processDidNotStart: recordMissingStart()
        case .deadlineReached: handleDeadlines()
        }
    }
}

extension Lifecycle {
    /// Returns to the initial values, except for those that outlive the process, such as a locked screen.
    mutating func reset(to current: ReachedState, isVisible: Bool) {
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
        let pending = PendingCallback(callback, within: limit, at: now)
        pendingCallback = pending
        effects.append(.deliver(callback, deadline: pending.deadline))
    }

    /// Starts the limits again that have passed, and for which the process would be killed: it could not run, as a
    /// debugger holds it.
    package mutating func restartPassedLimits(at moment: Duration) {
        if let pending = pendingCallback, pending.deadline <= moment { restartCallbackLimit(at: moment) }
        termination.restartExitLimit(rules.terminationLimit, at: moment)
        stay.restartKillLimit(rules.expirationLimit, at: moment)
    }

    /// Starts the limit of the pending callback again: the host has delivered it only now.
    package mutating func restartCallbackLimit(at moment: Duration) { pendingCallback?.restart(at: moment) }
}
