/// The rules of an application's life: a value that events change, and that says what is to be done.
///
/// It reads no clock and does nothing itself. A host (the supervisor, or the runtime of an application that has none)
/// tells it what happened and when, performs the effects, and calls it again with `.timer` at ``nextDeadline``.
/// Moments are durations since any fixed one; they must not go back, and should stand still while the machine sleeps.
package struct Lifecycle: Sendable, Hashable {
    /// Where the application really is; the callbacks move it.
    enum Position: Sendable, Hashable {
        case notRunning, launching, inactive, active, background, suspending, suspended
    }

    /// Where it is to go.
    enum Goal: Sendable, Hashable { case active, inactive, background, end }

    struct InFlight: Sendable, Hashable {
        let callback: Callback
        let deadline: Duration
    }

    package let rules: LifecycleRules
    var position = Position.notRunning
    var goal = Goal.inactive
    var inFlight: InFlight?
    var urls: [String] = []
    /// Open background tasks, as last told.
    package var openTasks = 0
    var budget: Budget
    var wakes = Wakes()
    var suspension = SuspensionState()
    var ending = EndingState()
    var sleep: SleepState?
    var warnings: [Int: Duration] = [:]

    /// Ended by the user: nothing but the user starts it again.
    package var isForceQuit = false
    /// Crashes during launch since the last good one.
    package var launchCrashes = 0

    /// The time of the event that is handled, and what it leads to.
    var now: Duration = .zero
    var effects: [LifecycleEffect] = []

    package init(rules: LifecycleRules = LifecycleRules()) {
        self.rules = rules
        budget = Budget(left: rules.budget)
    }

    /// Where the application stands; `terminating` from the request to end on.
    package var stage: Stage { goal == .end && isRunning ? .terminating : place }

    /// Where it stands, whether or not it is to end.
    package var place: Stage {
        switch position {
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
    package var isInBackground: Bool { position >= .background }

    /// What the application is being told, and has not acknowledged.
    package var callbackInFlight: Callback? { inFlight?.callback }

    var isRunning: Bool { position != .notRunning }

    /// Handles one event and gives what is to be done, in order.
    package mutating func handle(_ event: LifecycleEvent, at moment: Duration) -> [LifecycleEffect] {
        now = max(now, moment)
        effects = []
        apply(event)
        advance()
        if event == .timer { finishTimers() }
        defer { effects = [] }
        return effects
    }

    /// One deadline may uncover the next: after a long sleep of the thread that keeps the time, several have come.
    private mutating func finishTimers() {
        for _ in 0..<8 {
            guard let deadline = nextDeadline, deadline <= now else { return }
            timer()
            advance()
        }
    }

    private mutating func apply(_ event: LifecycleEvent) {
        switch event {
        case .launch, .wake, .openURL, .wakeCompleted: applyStart(event)
        case .activate, .deactivate, .enterBackground, .enterForeground: applyPresentation(event)
        case .acknowledged(let callback): acknowledged(callback)
        case .tasks(let count): tasksChanged(count)
        case .callIn: if spendsBudget { expire() }
        case .sleepAnnounced(let limit): sleepAnnounced(within: limit)
        case .awoke: awoke()
        case .memoryWarning(let level): memoryWarning(level)
        case .suspend, .continueInBackground, .frozen, .adopted: applySuspension(event)
        case .terminate(let grace): terminate(grace: grace)
        case .jettison: if isRunning { kill(.memory) }
        case .forceQuit: forceQuit()
        case .exited(let status): exited(status)
        case .timer: timer()
        }
    }
}

extension Lifecycle.Position: Comparable {}

extension Lifecycle {
    /// Starts a new life of the process: nothing of the last one is left but what outlives it.
    mutating func reset(to position: Position, goal: Goal) {
        var fresh = Lifecycle(rules: rules)
        (fresh.position, fresh.goal) = (position, goal)
        (fresh.isForceQuit, fresh.launchCrashes) = (isForceQuit, launchCrashes)
        (fresh.now, fresh.effects) = (now, effects)
        self = fresh
    }

    mutating func deliver(_ callback: Callback, within limit: Duration) {
        inFlight = InFlight(callback: callback, deadline: now + limit)
        effects.append(.deliver(callback, deadline: now + limit))
    }

    mutating func kill(_ reason: KillReason) {
        let duringLaunch = position == .launching
        let killed = EndingState.Killed(reason: reason, duringLaunch: duringLaunch, openTasks: openTasks)
        effects.append(.kill(reason))
        reset(to: .notRunning, goal: .inactive)
        ending.killed = killed
        if duringLaunch, case .watchdog = reason { launchFailed() }
    }

    mutating func launchFailed() {
        launchCrashes += 1
        effects.append(.deleteArchive)
    }
}
