import LifecycleCore

/// A lifecycle under random events, with a host that does what it is told, and a referee that watches.
struct RandomLifecycle {
    enum Kind: CaseIterable, Sendable { case supervised, standalone, terminating }

    private var random: SplitMix
    private var lifecycle: Lifecycle
    private var now: Duration = .zero
    private var referee = InvariantChecker()
    private(set) var history: [String] = []
    private(set) var suspensions = 0
    private(set) var endings = 0

    init(_ kind: Kind, seed: UInt64) {
        random = SplitMix(state: seed)
        var rules = LifecycleRules()
        rules.suspensionPolicy =
            switch kind {
            case .supervised: .freeze
            case .standalone: .keepRunning
            case .terminating: .terminate
            }
        lifecycle = Lifecycle(rules: rules)
    }

    /// One event; gives which rule was broken, if one was.
    mutating func step() -> String? {
        let event = nextEvent()
        let effects = lifecycle.handle(event, at: now)
        suspensions += effects.count { $0 == .commitSuspension }
        endings += effects.count { $0 == .exitProcess }
        history.append("\(event) → \(lifecycle.state) \(effects)")
        if history.count > 100 { history.removeFirst(50) }
        return referee.check(event, effects: effects, lifecycle: lifecycle, at: now)
    }

    /// Mostly what a host would say next, now and then something from outside, or nonsense.
    private mutating func nextEvent() -> LifecycleEvent {
        now += .milliseconds(Int.random(in: 0...40, using: &random))
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3:
            if let callback = lifecycle.unacknowledgedCallback { return .callbackAcknowledged(callback) }
            if lifecycle.state == .suspending {
                return .processFrozen(openTasks: chance(oneIn: 4) ? 1 : 0, blocksOthers: chance(oneIn: 10))
            }
            return deadlineEvent()
        case 4, 5: return deadlineEvent()
        case 6, 7: return .openTaskCountChanged(chance(oneIn: 2) ? 0 : Int.random(in: 0...3, using: &random))
        default: return externalEvent()
        }
    }

    /// Waits for the next deadline, or for some time where there is none; sometimes comes late or early.
    private mutating func deadlineEvent() -> LifecycleEvent {
        if let deadline = lifecycle.nextDeadline, !chance(oneIn: 5) { now = max(now, deadline) }
        if chance(oneIn: 20) { now += .seconds(Int.random(in: 0...900, using: &random)) }
        return .deadlineReached
    }

    private mutating func chance(oneIn count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func externalEvent() -> LifecycleEvent {
        let id = UInt64.random(in: 0...3, using: &random)
        let events: [LifecycleEvent] = [
            .launch(.user), .launch(.user), .launch(.url("a:b")), .openURL("c:d"), .activate, .deactivate,
            .enterBackground, .enterBackground, .enterBackground, .enterForeground, .enterForeground,
            .wake(WakeReason(.fetch, id: id), allowance: .seconds(20)), .wakeCompleted(id), .wakeCompleted(id),
            .wake(WakeReason(.session, id: id), allowance: .zero), .backgroundTimeRevoked,
            .systemWillSleep(within: .seconds(5)),
            .systemDidWake, .memoryWarning(level: Int(id)), .suspend(within: .seconds(5)), .resumeInBackground,
            .terminate(grace: .seconds(25)), .callbackAcknowledged(.willTerminate),
            .callbackAcknowledged(.didEnterBackground),
            .processFrozen(openTasks: 0, blocksOthers: false), .processExited(status: 1), .memoryExhausted, .forceQuit,
            .processAdopted(.background, openTasks: 1),
        ]
        let event = events[Int.random(in: 0..<events.count, using: &random)]
        // What ends a life is rarer than the rest, or lives would be too short to be interesting.
        switch event {
        case .processExited, .memoryExhausted, .forceQuit, .processAdopted, .terminate:
            return chance(oneIn: 5) ? event : .deadlineReached
        default: return event
        }
    }
}

/// Steele, Lea and Flood's generator: small, seeded, good enough.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}
