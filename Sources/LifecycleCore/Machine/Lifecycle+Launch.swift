// Launches, wakes, and the end of the process.
extension Lifecycle {
    mutating func applyStart(_ event: LifecycleEvent) {
        switch event {
        case .launch(let reason): launch(for: reason)
        case .openURL(let url): openURL(url)
        case .wake(let reason, let allowance): wake(for: reason, allowance: allowance)
        case .wakeCompleted(let id):
            wakes.entries.removeAll { $0.reason.id == id }
            if budget.overdueWake?.id == id { budget.overdueWake = nil }
        default: break
        }
    }

    private mutating func launch(for reason: LaunchReason) {
        if case .url(let url) = reason { urls.append(url) }
        guard !isRunning else { return enterForeground() }
        let waiting = urls
        reset(to: .launching, isVisible: true)
        (urls, wasForceQuit, launchCrashCount) = (waiting, false, 0)
        effects += [.spawnProcess, .setTaskPhase(.foreground, deadline: nil)]
        deliver(.launch(reason), within: rules.launchLimit)
    }

    private mutating func openURL(_ url: String) {
        guard isRunning else { return launch(for: .url(url)) }
        if isTerminating { return effects.append(.refuse(.terminating)) }
        urls.append(url)
        enterForeground()
    }

    private mutating func wake(for reason: WakeReason, allowance: Duration) {
        if let refusal = refusal(of: reason, allowance: allowance) { return effects.append(.refuse(refusal)) }
        if !isRunning {
            reset(to: .launching, isVisible: false)
            effects += [.spawnProcess, .setTaskPhase(.background, deadline: now + rules.launchLimit)]
            deliver(.launchInBackground, within: rules.launchLimit)
        }
        wakes.entries.append(OpenWakes.OpenWake(reason: reason, allowance: allowance))
    }

    private func refusal(of reason: WakeReason, allowance: Duration) -> LifecycleEffect.Refusal? {
        if !rules.declaredWakeKinds.contains(reason.kind) { return .undeclaredMode }
        if isTerminating, isRunning { return .terminating }
        if wasForceQuit { return .forceQuit }
        if allowance <= .zero { return .allowanceExhausted }
        if !isRunning, launchCrashCount > rules.launchCrashLimit { return .repeatedLaunchCrashes }
        return nil
    }

    /// Ends the application for the user; only the user can start it again.
    mutating func forceQuit() {
        if isRunning { kill(.userForceQuit) }
        wasForceQuit = true
        effects += [.deleteArchive, .cancelTransfers]
    }

    mutating func recordExit(status: Int32) {
        let duringLaunch = currentState == .launching
        if duringLaunch { recordLaunchFailure() }
        let report = ExitReport(
            status: status,
            killReason: termination.killedProcess?.reason,
            wasLaunching: termination.killedProcess?.wasLaunching ?? duringLaunch,
            openTasks: termination.killedProcess?.openTasks ?? openTasks
        )
        termination.killedProcess = nil
        reset(to: .notRunning, isVisible: true)
        effects.append(.reportExit(report))
    }
}
