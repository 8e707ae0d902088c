import LifecycleCore

/// Checks the invariants of a lifecycle from its events and effects alone.
struct InvariantChecker {
    /// The state that an application deduces from its callbacks.
    private enum ObservedState { case nothing, inactive, active, background, terminated }

    private var observedState = ObservedState.nothing
    private var pendingCallback: LifecycleCallback?
    private var callbackDeadline: Duration = .zero
    private var phase = TaskPhase.foreground
    private var isFrozen = false
    private var isAsleep = false
    private var wasForceQuit = false
    private var openTasks = 0

    /// Returns the invariant that was violated, or `nil`.
    mutating func check(
        _ event: LifecycleEvent,
        effects: [LifecycleEffect],
        lifecycle: Lifecycle,
        at now: Duration
    ) -> String? {
        record(event, at: now)
        for effect in effects { if let violation = check(effect) { return violation } }
        if lifecycle.unacknowledgedCallback != pendingCallback {
            return "the unacknowledged callback differs from the delivered one"
        }
        if let deadline = lifecycle.nextDeadline, deadline <= now, event == .deadlineReached {
            return "a passed deadline was not handled"
        }
        if isFrozen, lifecycle.nextDeadline != nil { return "a suspended application has a deadline" }
        if phase == .expiring, openTasks > 0, lifecycle.nextDeadline == nil, lifecycle.state != .notRunning, !isAsleep {
            return "an expired task has no deadline"
        }
        return nil
    }

    private mutating func record(_ event: LifecycleEvent, at now: Duration) {
        switch event {
        case .callbackAcknowledged(let callback) where callback == pendingCallback: pendingCallback = nil
        case .deadlineReached:
            // A wake that is not acknowledged in time is dropped; any other callback that is late ends the process.
            if case .wake = pendingCallback, callbackDeadline <= now { pendingCallback = nil }
        case .openTaskCountChanged(let count): openTasks = count
        case .processFrozen(let count, _): openTasks = count
        case .systemWillSleep: isAsleep = true
        case .systemDidWake, .terminate: isAsleep = false
        case .processExited: reset()
        case .processAdopted(let found, let count):
            reset()
            (observedState, isFrozen, openTasks) = (
                found == .foreground ? .active : .background, found == .suspended, count
            )
        default: break
        }
    }

    /// Returns to the initial values, except for a force-quit, which outlives the process.
    private mutating func reset() {
        let forceQuit = wasForceQuit
        self = InvariantChecker()
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
        case .exitProcess: if observedState != .terminated { return "exited before willTerminate" }
        default: break
        }
        return nil
    }

    private mutating func checkSpawn() -> String? {
        if observedState != .nothing { return "spawned while running" }
        // Keeps the force-quit for the callback that follows: only the user may launch the application after it.
        reset()
        return nil
    }

    private mutating func checkKill(for reason: KillReason) -> String? {
        if reason == .backgroundTask, phase != .expiring { return "killed for a task that has not expired" }
        if reason == .backgroundTask, observedState == .active { return "killed for a task in the foreground" }
        reset()
        return nil
    }

    private mutating func checkDelivery(of callback: LifecycleCallback) -> String? {
        if pendingCallback != nil { return "two callbacks at once" }
        if isFrozen { return "\(callback) delivered to a frozen application" }
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
        case (.wake, .nothing), (.wake, .terminated): return "a wake out of order"
        case (.wake, _): break
        default: return "\(callback) out of order in \(observedState)"
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
