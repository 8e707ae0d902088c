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

    /// The state in which another supervisor would find the process; `nil` before its launch, or without one.
    package var adoptableState: AdoptedProcess.State? { currentState.adoptable }

    /// Returns whether the end of a process concerns this state, as it runs or is being killed.
    package func expectsExit(of process: ProcessIdentity) -> Bool {
        process == self.process && (isRunning || termination.killedProcess != nil)
    }

    /// The wakes that the process has not completed.
    package var openWakes: [WakeReason] { stay.wakes.entries.map(\.reason) }

    /// The wakes that the process has not completed, delivered or not.
    package var acceptedWakes: [OpenWake] { stay.wakes.entries }

    /// A Boolean value indicating whether the events of background sessions wait: the application is suspended, or does
    /// not know yet for which session it was woken.
    package var holdsSessionEvents: Bool {
        if reachedState == .suspended { return true }
        if case .wake(let reason)? = unacknowledgedCallback, reason.kind == .session { return true }
        return stay.wakes.entries.contains { $0.reason.kind == .session && !$0.isDelivered }
    }

    /// The URLs that the application has not answered.
    package var waitingURLs: [IncomingURL] { urls.unanswered }

    /// The end of background time; `nil` if none runs or it has no limit.
    package var backgroundTimeEnd: Duration? { isBudgetRunning ? stay.end : nil }

    /// A Boolean value indicating whether the application is about to be in the foreground, or is there.
    package var isHeadingForForeground: Bool {
        switch targetState {
        case .active, .inactive: isRunning
        case .background, .terminated: false
        }
    }

    /// The time at which the host passes `.deadlineReached`; `nil` if only another event can change the state.
    package var nextDeadline: Duration? {
        guard isRunning else { return nil }
        let own = [
            pendingCallback?.deadline, termination.exitDeadline, termination.nextExtension, suspension.freezeDeadline,
            stay.sleep?.deadline,
        ]
        return (own + (isBudgetRunning ? stay.deadlines + [idleDeadline] : [])).compactMap(\.self).min()
    }

    /// A Boolean value indicating whether background time is running, which excludes the way back to the foreground.
    var isBudgetRunning: Bool { currentState == .background && stay.isRunning }

    private var idleDeadline: Duration? {
        targetState == .background && pendingCallback == nil ? suspension.idleDeadline(under: rules) : nil
    }

    /// Handles every deadline that has passed.
    mutating func handleDeadlines() {
        if let overdue = pendingCallback, overdue.deadline <= now { return handleTimeout(of: overdue.callback) }
        if let deadline = termination.exitDeadline, deadline <= now { return kill(.watchdog(.willTerminate)) }
        if let deadline = suspension.freezeDeadline, deadline <= now { handleFreezeFailure() }
        if isBudgetRunning { handleBackgroundDeadlines() }
        extendStopTimeout()
    }

    private mutating func handleBackgroundDeadlines() {
        if let deadline = stay.killDeadline, deadline <= now { return enforceExpiration() }
        effects += stay.expireOverdueWake(under: rules, at: now)
        if !stay.isExpired, let deadline = stay.end, deadline <= now { expireBackgroundTime() }
    }

    /// Treats a wake that was not acknowledged in time as incomplete; kills the process for any other callback.
    private mutating func handleTimeout(of callback: LifecycleCallback) {
        guard case .wake = callback else { return kill(.watchdog(callback)) }
        pendingCallback = nil
        if isBudgetRunning { effects += stay.expireOverdueWake(under: rules, at: now) }
    }

    mutating func completeWake(_ id: UInt64, result: WakeResult) {
        let completed = stay.complete(id)
        for reason in completed { history.wakeCrashCounts[reason.kind] = nil }
        report(completed, as: result)
    }

    /// Reports the answer to the URL that was delivered and not yet answered.
    mutating func answerURL(_ id: UInt64, isHandled: Bool) {
        guard case .openURL(let url)? = pendingCallback?.callback, url.id == id, urls.answer(id) else { return }
        effects.append(.reportURL(url, isHandled ? .handled : .notHandled))
    }

    /// Removes the URL that the application has opened; without an answer it was not handled.
    mutating func finishURL(_ url: IncomingURL) {
        if !urls.finish(url) { effects.append(.reportURL(url, .notHandled)) }
    }

    mutating func changeAssertion(_ assertion: ContinuousAssertion, isHeld: Bool) {
        guard isRunning else { return }
        if isHeld, !rules.declaredAssertions.contains(assertion) { return effects.append(.refuse(.undeclaredMode)) }
        let hadAssertion = !stay.assertions.isEmpty
        if isHeld { stay.assertions.insert(assertion) } else { stay.assertions.remove(assertion) }
        if stay.assertions.isEmpty == hadAssertion { applyAssertions() }
    }

    /// Stops the budget while an assertion is held; an expiration that has begun goes on.
    private mutating func applyAssertions() {
        if stay.assertions.isEmpty {
            if stay.isRunning { stay.resume(at: now) }
        } else {
            stay.hold(at: now)
            if !suspension.isRequested { continueFrozenProcess() }
        }
        updateDeadline()
    }

    /// Continues a process that was frozen although it has taken an assertion, as its message arrived too late.
    private mutating func continueFrozenProcess() {
        switch currentState {
        case .suspending where !stay.isExpired: cancelFreeze()
        case .suspended: thawIntoBackground()
        default: break
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
