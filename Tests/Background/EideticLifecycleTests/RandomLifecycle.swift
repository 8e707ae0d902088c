import EideticLifecycle
import EideticTestSupport

/// A lifecycle under random events, with a host that follows the effects, and an invariant checker.
struct RandomLifecycle {
    enum Kind: CaseIterable, Sendable { case supervised, standalone, endless, terminating }

    private var random: SplitMix
    private var lifecycle: Lifecycle
    private var now: Duration = .zero
    private var checker = InvariantChecker()
    private var nextURL: UInt64 = 1
    private(set) var history: [String] = []
    private(set) var suspensions = 0
    private(set) var exits = 0

    init(_ kind: Kind, seed: UInt64) {
        random = SplitMix(state: seed)
        var rules = LifecycleRules()
        rules.suspensionPolicy =
            switch kind {
            case .supervised: .freeze
            case .standalone, .endless: .keepRunning
            case .terminating: .terminate
            }
        if kind == .endless { rules.backgroundBudget = nil }
        lifecycle = Lifecycle(rules: rules)
    }

    /// Handles one event, and returns the violated invariant, if any.
    mutating func step() -> String? {
        let event = nextEvent()
        let effects = lifecycle.handle(event, at: now)
        suspensions += effects.count { $0 == .commitSuspension }
        exits += effects.count { $0 == .exitProcess }
        history.append("\(event) → \(lifecycle.state) \(effects)")
        if history.count > 100 { history.removeFirst(50) }
        return checker.check(event, effects: effects, lifecycle: lifecycle, at: now)
    }

    /// Returns mostly the event that a host would pass next, sometimes an external or unexpected one.
    private mutating func nextEvent() -> LifecycleEvent {
        now += .milliseconds(Int.random(in: 0...40, using: &random))
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3:
            if let callback = lifecycle.unacknowledgedCallback {
                return .callbackAcknowledged(callback, process: process)
            }
            if lifecycle.state == .suspending {
                return .processFrozen(
                    lifecycle.process,
                    openTasks: chance(oneIn: 4) ? 1 : 0,
                    blocksOthers: chance(oneIn: 10)
                )
            }
            if isLaunchWaiting, chance(oneIn: 3) { return .processExited(lifecycle.process, status: 0) }
            return deadlineEvent()
        case 4, 5: return deadlineEvent()
        case 6, 7:
            return .openTaskCountChanged(chance(oneIn: 2) ? 0 : Int.random(in: 0...3, using: &random), process: process)
        default: return externalEvent()
        }
    }

    /// Advances to the next deadline, or by some time without one; sometimes too late or too early.
    private mutating func deadlineEvent() -> LifecycleEvent {
        if let deadline = lifecycle.nextDeadline, !chance(oneIn: 5) { now = max(now, deadline) }
        if chance(oneIn: 20) { now += .seconds(Int.random(in: 0...900, using: &random)) }
        return .deadlineReached
    }

    private var isLaunchWaiting: Bool { lifecycle.isLaunchWaiting }

    /// The current process, or sometimes another one.
    private var process: ProcessIdentity {
        mutating get {
            let number = lifecycle.process.rawValue
            return chance(oneIn: 20) ? ProcessIdentity(rawValue: number &- 1) : lifecycle.process
        }
    }

    private mutating func chance(oneIn count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func externalEvent() -> LifecycleEvent {
        let id = UInt64.random(in: 0...3, using: &random)
        let events: [LifecycleEvent] = [
            .launch(.user), .launch(.user), .launchInBackground(.user), .launchBackgroundJob,
            .processConnected(inBackground: chance(oneIn: 2)), .activate, .deactivate,
            .openURL(IncomingURL("a:b", id: nextURL)), .launch(.url(IncomingURL("c:d", id: nextURL))),
            .urlAnswered(nextURL &- 1, isHandled: true, process: process),
            .assertionChanged(.audio, isHeld: true, process: process),
            .assertionChanged(.audio, isHeld: false, process: process),
            .assertionChanged(.audio, isHeld: false, process: process),
            .enterBackground, .enterBackground, .enterBackground, .enterForeground, .enterForeground, .show, .lock,
            .unlock, .unlock, .resumeInForeground,
            .wake(WakeReason(.fetch, id: id), allowance: .seconds(20)), .wakeCompleted(id, .noData, process: process),
            .wakeCompleted(id, .newData, process: process),
            .wake(WakeReason(.session, id: id), allowance: .zero), .backgroundTimeRevoked,
            .systemWillSleep(within: .seconds(5)),
            .systemDidWake, .memoryWarning(level: Int(id)), .suspend(within: .seconds(5)), .resumeInBackground,
            .terminate(grace: .seconds(25)), .callbackAcknowledged(.willTerminate, process: process),
            .callbackAcknowledged(.didEnterBackground, process: process),
            .processFrozen(process, openTasks: 0, blocksOthers: false), .processExited(process, status: 1),
            .processDidNotStart(process), .memoryExhausted, .forceQuit,
            .processAdopted(AdoptedProcess(.background, openTasks: 1, wakes: [WakeReason(.push, id: id)])),
            .processAdopted(AdoptedProcess(.inactive)), .processAdopted(AdoptedProcess(.active, assertions: [.audio])),
        ]
        nextURL += 1
        let event = events[Int.random(in: 0..<events.count, using: &random)]
        // Events that end a process are rarer than the others, so that most sequences are long.
        switch event {
        case .processExited, .processDidNotStart, .memoryExhausted, .forceQuit, .processAdopted, .terminate:
            return chance(oneIn: 5) ? event : .deadlineReached
        default: return event
        }
    }
}
