import EideticLifecycle

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
    private var isAssertionHeld = false
    private var isStopRequested = false
    /// The process that was started and has not exited.
    private var process: ProcessIdentity?
    /// The accepted wakes without a result, by identifier, and the URLs without an outcome.
    private var openWakes: [UInt64: Int] = [:]
    private var openURLs: Set<UInt64> = []

    /// Returns the invariant that was violated, or `nil`.
    mutating func check(
        _ event: LifecycleEvent,
        effects: [LifecycleEffect],
        lifecycle: Lifecycle,
        at now: Duration
    ) -> String? {
        record(event, at: now)
        recordRequests(event, effects: effects)
        if case .wake = event, phase == .expiring, openTasks > 0, effects.contains(where: \.admitsTasks) {
            return "a wake forgave an expiration"
        }
        for effect in effects { if let violation = check(effect) ?? checkReport(effect) { return violation } }
        // An adopted process, or one that connected, was not started here.
        if event.isArrival, lifecycle.state != .notRunning { process = lifecycle.process }
        if lifecycle.state == .notRunning, !lifecycle.isLaunchWaiting {
            if !openWakes.isEmpty { return "wakes \(openWakes.keys) have no result" }
            if !openURLs.isEmpty { return "URLs \(openURLs) have no outcome" }
        }
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
        case .callbackAcknowledged(let callback, process) where callback == pendingCallback: pendingCallback = nil
        case .deadlineReached:
            // A wake that is not acknowledged in time is dropped; any other callback that is late ends the process.
            if case .wake = pendingCallback, callbackDeadline <= now { pendingCallback = nil }
        case .openTaskCountChanged(let count, process): openTasks = count
        case .processFrozen(process, let count, _): openTasks = count
        case .assertionChanged(_, let isHeld, process): isAssertionHeld = isHeld
        case .suspend: isStopRequested = true
        case .resumeInBackground, .resumeInForeground, .enterForeground, .launch(.user): isStopRequested = false
        case .systemWillSleep: isAsleep = true
        case .systemDidWake, .terminate: isAsleep = false
        case .processExited(process, _):
            reset()
            process = nil
        case .processDidNotStart(process) where isLaunchPending:
            reset()
            process = nil
        case .processAdopted(let found):
            reset()
            (openTasks, isFrozen) = (found.openTasks, found.state == .suspended)
            isAssertionHeld = !found.assertions.isEmpty
            observedState =
                switch found.state {
                case .active: .active
                case .inactive: .inactive
                case .background, .suspended: .background
                }
        default: break
        }
    }

    private var isLaunchPending: Bool {
        switch pendingCallback {
        case .launch, .launchInBackground: true
        default: false
        }
    }

    private mutating func recordRequests(_ event: LifecycleEvent, effects: [LifecycleEffect]) {
        switch event {
        case .wake(let wake, _):
            if !effects.contains(where: { if case .refuse = $0 { true } else { false } }) {
                openWakes[wake.id, default: 0] += 1
            }
        case .processAdopted(let found): for wake in found.wakes { openWakes[wake.id, default: 0] += 1 }
        case .openURL(let url), .launch(.url(let url)): openURLs.insert(url.id)
        default: break
        }
    }

    private mutating func checkReport(_ effect: LifecycleEffect) -> String? {
        switch effect {
        case .reportWake(let wake, _):
            guard let count = openWakes[wake.id] else { return "a wake has two results" }
            openWakes[wake.id] = count > 1 ? count - 1 : nil
        case .reportURL(let url, _): if openURLs.remove(url.id) == nil { return "a URL has two outcomes" }
        default: break
        }
        return nil
    }

    /// Returns to the initial values, except for those that outlive the process.
    private mutating func reset() {
        let old = self
        self = InvariantChecker()
        (wasForceQuit, process, openWakes, openURLs) = (old.wasForceQuit, old.process, old.openWakes, old.openURLs)
    }

    private mutating func check(_ effect: LifecycleEffect) -> String? {
        switch effect {
        case .spawnProcess(let identity): return checkSpawn(of: identity)
        case .deliver(let callback, let deadline):
            callbackDeadline = deadline
            return checkDelivery(of: callback)
        case .setTaskPhase(let next, _): phase = next
        case .commitSuspension:
            if openTasks > 0 { return "suspended inside a task" }
            if isAssertionHeld, phase != .expiring, !isStopRequested { return "suspended while audio plays" }
            isFrozen = true
        case .thawProcess: isFrozen = false
        case .killProcess(let reason): return checkKill(for: reason)
        case .cancelTransfers: wasForceQuit = true
        case .exitProcess: if observedState != .terminated { return "exited before willTerminate" }
        default: break
        }
        return nil
    }

    private mutating func checkSpawn(of identity: ProcessIdentity) -> String? {
        if process != nil { return "spawned before the exit of the previous process" }
        defer { process = identity }
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
        case (.launchInBackground(let reason), .nothing):
            if wasForceQuit, reason != .user { return "woken after a force-quit" }
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

extension LifecycleEffect {
    /// A Boolean value indicating whether background tasks may start after the effect.
    fileprivate var admitsTasks: Bool {
        if case .setTaskPhase(let phase, _) = self { phase.admitsTasks } else { false }
    }
}

extension LifecycleEvent {
    fileprivate var isArrival: Bool {
        switch self {
        case .processAdopted, .processConnected: true
        default: false
        }
    }
}
