import LifecycleCore

/// Watches a life from outside, knowing nothing of how the rules are written.
struct Referee {
    /// Where the application believes to be, from what it was told.
    private enum Told { case nothing, inactive, active, background, ended }

    private var told = Told.nothing
    private var inFlight: Callback?
    private var inFlightUntil: Duration = .zero
    private var phase = TaskPhase.foreground
    private var isFrozen = false
    private var wasForceQuit = false
    private var tasks = 0

    /// Gives the rule that was broken, or `nil`.
    mutating func check(
        _ event: LifecycleEvent,
        _ effects: [LifecycleEffect],
        _ lifecycle: Lifecycle,
        at now: Duration
    ) -> String? {
        note(event, now)
        for effect in effects { if let broken = judge(effect) { return broken } }
        if lifecycle.callbackInFlight != inFlight { return "another callback is in flight than was told" }
        if let deadline = lifecycle.nextDeadline, deadline <= now, event == .timer { return "a deadline was left over" }
        if isFrozen, lifecycle.nextDeadline != nil { return "a suspended application has a deadline" }
        if phase == .expiring, tasks > 0, lifecycle.nextDeadline == nil, lifecycle.stage != .notRunning, !sleeps {
            return "an expired task has no deadline"
        }
        return nil
    }

    private var sleeps = false

    private mutating func note(_ event: LifecycleEvent, _ now: Duration) {
        switch event {
        case .acknowledged(let callback) where callback == inFlight: inFlight = nil
        case .timer:
            // A wake that is not taken in time is given up, the others cost the application its life.
            if case .wake = inFlight, inFlightUntil <= now { inFlight = nil }
        case .tasks(let count): tasks = count
        case .frozen(let count, _): tasks = count
        case .sleepAnnounced: sleeps = true
        case .awoke, .terminate: sleeps = false
        case .exited: life(ends: true)
        case .adopted(let found, let count):
            life(ends: true)
            (told, isFrozen, tasks) = (found == .foreground ? .active : .background, found == .suspended, count)
        default: break
        }
    }

    private mutating func life(ends: Bool) {
        let forceQuit = wasForceQuit
        if ends { self = Referee() }
        wasForceQuit = forceQuit
    }

    private mutating func judge(_ effect: LifecycleEffect) -> String? {
        switch effect {
        case .spawn: return spawned()
        case .deliver(let callback, let deadline):
            inFlightUntil = deadline
            return deliver(callback)
        case .phase(let next, _): phase = next
        case .commitSuspension:
            if tasks > 0 { return "suspended inside a task" }
            isFrozen = true
        case .thaw: isFrozen = false
        case .kill(let reason): return killed(reason)
        case .cancelTransfers: wasForceQuit = true
        case .finish: if told != .ended { return "finished before willTerminate" }
        default: break
        }
        return nil
    }

    private mutating func spawned() -> String? {
        if told != .nothing { return "spawned while it runs" }
        let byUser = wasForceQuit
        life(ends: true)
        // Checked with the callback that follows: only a launch for the user may come after a force-quit.
        wasForceQuit = byUser
        return nil
    }

    private mutating func killed(_ reason: KillReason) -> String? {
        if reason == .backgroundTask, phase != .expiring { return "killed for a task that had not expired" }
        if reason == .backgroundTask, told == .active { return "killed for a task in the foreground" }
        life(ends: true)
        return nil
    }

    private mutating func deliver(_ callback: Callback) -> String? {
        if inFlight != nil { return "two callbacks at once" }
        if isFrozen { return "\(callback) told to a frozen application" }
        if told == .ended { return "\(callback) after willTerminate" }
        inFlight = callback
        switch (callback, told) {
        case (.launch, .nothing): (told, wasForceQuit) = (.inactive, false)
        case (.launchInBackground, .nothing):
            if wasForceQuit { return "woken after a force-quit" }
            told = .background
        case (.didBecomeActive, .inactive): told = .active
        case (.willResignActive, .active): told = .inactive
        case (.didEnterBackground, .inactive): told = .background
        case (.willEnterForeground, .background): told = .inactive
        case (.willTerminate, .background):
            if tasks > 0 { return "willTerminate with a task open" }
            told = .ended
        case (.openURL, .inactive), (.openURL, .active): break
        case (.wake, .nothing), (.wake, .ended): return "a wake out of turn"
        case (.wake, _): break
        default: return "\(callback) out of order, told \(told)"
        }
        return phaseFits(callback)
    }

    private func phaseFits(_ callback: Callback) -> String? {
        switch callback {
        case .didBecomeActive where phase != .foreground: "active in phase \(phase)"
        case .didEnterBackground where phase == .foreground: "in the background in phase \(phase)"
        case .willTerminate where phase != .terminating: "tasks admitted during willTerminate"
        default: nil
        }
    }
}
