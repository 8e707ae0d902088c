import LifecycleCore

/// Watches a life from outside, knowing nothing of how the rules are written.
struct InvariantChecker {
    /// Where the application believes to be, from what it was told.
    private enum ObservedState { case nothing, inactive, active, background, terminated }

    private var observedState = ObservedState.nothing
    private var pendingCallback: LifecycleCallback?
    private var callbackDeadline: Duration = .zero
    private var phase = TaskPhase.foreground
    private var isFrozen = false
    private var wasForceQuit = false
    private var openTasks = 0

    /// Gives the rule that was broken, or `nil`.
    mutating func check(
        _ event: LifecycleEvent,
        effects: [LifecycleEffect],
        lifecycle: Lifecycle,
        at now: Duration
    ) -> String? {
        record(event, at: now)
        for effect in effects { if let broken = check(effect) { return broken } }
        if lifecycle.unacknowledgedCallback != pendingCallback { return "another callback is in flight than was told" }
        if let deadline = lifecycle.nextDeadline, deadline <= now, event == .deadlineReached {
            return "a deadline was left over"
        }
        if isFrozen, lifecycle.nextDeadline != nil { return "a suspended application has a deadline" }
        if phase == .expiring, openTasks > 0, lifecycle.nextDeadline == nil, lifecycle.state != .notRunning, !isAsleep {
            return "an expired task has no deadline"
        }
        return nil
    }

    private var isAsleep = false

    private mutating func record(_ event: LifecycleEvent, at now: Duration) {
        switch event {
        case .callbackAcknowledged(let callback) where callback == pendingCallback: pendingCallback = nil
        case .deadlineReached:
            // A wake that is not taken in time is given up, the others cost the application its life.
            if case .wake = pendingCallback, callbackDeadline <= now { pendingCallback = nil }
        case .openTaskCountChanged(let count): openTasks = count
        case .processFrozen(let count, _): openTasks = count
        case .systemWillSleep: isAsleep = true
        case .systemDidWake, .terminate: isAsleep = false
        case .processExited: life(ends: true)
        case .processAdopted(let found, let count):
            life(ends: true)
            (observedState, isFrozen, openTasks) = (
                found == .foreground ? .active : .background, found == .suspended, count
            )
        default: break
        }
    }

    private mutating func life(ends: Bool) {
        let forceQuit = wasForceQuit
        if ends { self = InvariantChecker() }
        wasForceQuit = forceQuit
    }

    private mutating func check(_ effect: LifecycleEffect) -> String? {
        switch effect {
        case .spawnProcess: return checkSpawn()
        case .deliver(let callback, let deadline):
            callbackDeadline = deadline
            return checkDelivery(of: callback)
        case .setTaskPhase(let next, _): phase = next
        case .commitSuspension:
            if openTasks > 0 { return "suspended inside a task" }
            isFrozen = true
        case .thawProcess: isFrozen = false
        case .killProcess(let reason): return checkKill(for: reason)
        case .cancelTransfers: wasForceQuit = true
        case .exitProcess: if observedState != .terminated { return "finished before willTerminate" }
        default: break
        }
        return nil
    }

    private mutating func checkSpawn() -> String? {
        if observedState != .nothing { return "spawned while it runs" }
        let byUser = wasForceQuit
        life(ends: true)
        // Checked with the callback that follows: only a launch for the user may come after a force-quit.
        wasForceQuit = byUser
        return nil
    }

    private mutating func checkKill(for reason: KillReason) -> String? {
        if reason == .backgroundTask, phase != .expiring { return "killed for a task that had not expired" }
        if reason == .backgroundTask, observedState == .active { return "killed for a task in the foreground" }
        life(ends: true)
        return nil
    }

    private mutating func checkDelivery(of callback: LifecycleCallback) -> String? {
        if pendingCallback != nil { return "two callbacks at once" }
        if isFrozen { return "\(callback) told to a frozen application" }
        if observedState == .terminated { return "\(callback) after willTerminate" }
        pendingCallback = callback
        switch (callback, observedState) {
        case (.launch, .nothing): (observedState, wasForceQuit) = (.inactive, false)
        case (.launchInBackground, .nothing):
            if wasForceQuit { return "woken after a force-quit" }
            observedState = .background
        case (.didBecomeActive, .inactive): observedState = .active
        case (.willResignActive, .active): observedState = .inactive
        case (.didEnterBackground, .inactive): observedState = .background
        case (.willEnterForeground, .background): observedState = .inactive
        case (.willTerminate, .background):
            if openTasks > 0 { return "willTerminate with a task open" }
            observedState = .terminated
        case (.openURL, .inactive), (.openURL, .active): break
        case (.wake, .nothing), (.wake, .terminated): return "a wake out of turn"
        case (.wake, _): break
        default: return "\(callback) out of order, told \(observedState)"
        }
        return checkPhase(for: callback)
    }

    private func checkPhase(for callback: LifecycleCallback) -> String? {
        switch callback {
        case .didBecomeActive where phase != .foreground: "active in phase \(phase)"
        case .didEnterBackground where phase == .foreground: "in the background in phase \(phase)"
        case .willTerminate where phase != .terminating: "tasks admitted during willTerminate"
        default: nil
        }
    }
}
