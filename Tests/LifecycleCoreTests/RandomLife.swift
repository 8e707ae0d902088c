import LifecycleCore

/// A lifecycle under random events, with a host that does what it is told, and a referee that watches.
struct RandomLife {
    enum Kind: CaseIterable, Sendable { case supervised, standAlone, endsInstead }

    private var random: SplitMix
    private var lifecycle: Lifecycle
    private var now: Duration = .zero
    private var referee = Referee()
    private(set) var history: [String] = []
    private(set) var suspensions = 0
    private(set) var endings = 0

    init(_ kind: Kind, seed: UInt64) {
        random = SplitMix(state: seed)
        var rules = LifecycleRules()
        rules.suspension =
            switch kind {
            case .supervised: .freezes
            case .standAlone: .staysRunning
            case .endsInstead: .ends
            }
        lifecycle = Lifecycle(rules: rules)
    }

    /// One event; gives which rule was broken, if one was.
    mutating func step() -> String? {
        let event = nextEvent()
        let effects = lifecycle.handle(event, at: now)
        suspensions += effects.count { $0 == .commitSuspension }
        endings += effects.count { $0 == .finish }
        history.append("\(event) → \(lifecycle.stage) \(effects)")
        if history.count > 100 { history.removeFirst(50) }
        return referee.check(event, effects, lifecycle, at: now)
    }

    /// Mostly what a host would say next, now and then something from outside, or nonsense.
    private mutating func nextEvent() -> LifecycleEvent {
        now += .milliseconds(Int.random(in: 0...40, using: &random))
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3:
            if let callback = lifecycle.callbackInFlight { return .acknowledged(callback) }
            if lifecycle.stage == .suspending {
                return .frozen(openTasks: oneIn(4) ? 1 : 0, blocksOthers: oneIn(10))
            }
            return timer()
        case 4, 5: return timer()
        case 6, 7: return .tasks(oneIn(2) ? 0 : Int.random(in: 0...3, using: &random))
        default: return outside()
        }
    }

    /// Waits for the next deadline, or for some time where there is none; sometimes comes late or early.
    private mutating func timer() -> LifecycleEvent {
        if let deadline = lifecycle.nextDeadline, !oneIn(5) { now = max(now, deadline) }
        if oneIn(20) { now += .seconds(Int.random(in: 0...900, using: &random)) }
        return .timer
    }

    private mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func outside() -> LifecycleEvent {
        let id = UInt64.random(in: 0...3, using: &random)
        let events: [LifecycleEvent] = [
            .launch(.user), .launch(.user), .launch(.url("a:b")), .openURL("c:d"), .activate, .deactivate,
            .enterBackground, .enterBackground, .enterBackground, .enterForeground, .enterForeground,
            .wake(WakeReason(.fetch, id: id), allowance: .seconds(20)), .wakeCompleted(id), .wakeCompleted(id),
            .wake(WakeReason(.session, id: id), allowance: .zero), .callIn, .sleepAnnounced(within: .seconds(5)),
            .awoke, .memoryWarning(level: Int(id)), .suspend(within: .seconds(5)), .continueInBackground,
            .terminate(grace: .seconds(25)), .acknowledged(.willTerminate), .acknowledged(.didEnterBackground),
            .frozen(openTasks: 0, blocksOthers: false), .exited(status: 1), .jettison, .forceQuit,
            .adopted(.background, openTasks: 1),
        ]
        let event = events[Int.random(in: 0..<events.count, using: &random)]
        // What ends a life is rarer than the rest, or lives would be too short to be interesting.
        switch event {
        case .exited, .jettison, .forceQuit, .adopted, .terminate: return oneIn(5) ? event : .timer
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
