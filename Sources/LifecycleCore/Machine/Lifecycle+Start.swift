// Rows of the table that start or wake an application, or hand it something from outside.
extension Lifecycle {
    mutating func applyStart(_ event: LifecycleEvent) {
        switch event {
        case .launch(let reason): launch(reason)
        case .openURL(let url): openURL(url)
        case .wake(let reason, let allowance): wake(reason, allowance: allowance)
        case .wakeCompleted(let id):
            wakes.open.removeAll { $0.reason.id == id }
            if budget.overdueWake?.id == id { budget.overdueWake = nil }
        default: break
        }
    }

    private mutating func launch(_ reason: LaunchReason) {
        if case .url(let url) = reason { urls.append(url) }
        guard !isRunning else { return show() }
        let waiting = urls
        reset(to: .launching, goal: .active)
        (urls, isForceQuit, launchCrashes) = (waiting, false, 0)
        effects += [.spawn, .phase(.foreground, deadline: nil)]
        deliver(.launch(reason), within: rules.launchLimit)
    }

    private mutating func openURL(_ url: String) {
        guard isRunning else { return launch(.url(url)) }
        if goal == .end { return effects.append(.refuse(.terminating)) }
        urls.append(url)
        show()
    }

    private mutating func wake(_ reason: WakeReason, allowance: Duration) {
        if let refusal = refusal(of: reason, allowance) { return effects.append(.refuse(refusal)) }
        if !isRunning {
            reset(to: .launching, goal: .background)
            effects += [.spawn, .phase(.background, deadline: now + rules.launchLimit)]
            deliver(.launchInBackground, within: rules.launchLimit)
        }
        wakes.open.append(Wakes.Open(reason: reason, allowance: allowance))
    }

    private func refusal(of reason: WakeReason, _ allowance: Duration) -> LifecycleEffect.Refusal? {
        if !rules.modes.contains(reason.kind) { return .undeclaredMode }
        if goal == .end, isRunning { return .terminating }
        if isForceQuit { return .forceQuit }
        if allowance <= .zero { return .allowanceSpent }
        if !isRunning, launchCrashes > rules.launchCrashLimit { return .launchCrashes }
        return nil
    }

    /// The user ends it: gone at once, and not woken before the user starts it again.
    mutating func forceQuit() {
        if isRunning { kill(.userForceQuit) }
        isForceQuit = true
        effects += [.deleteArchive, .cancelTransfers]
    }

    mutating func exited(_ status: Int32) {
        let duringLaunch = position == .launching
        if duringLaunch { launchFailed() }
        let report = ExitReport(
            status: status,
            reason: ending.killed?.reason,
            duringLaunch: ending.killed?.duringLaunch ?? duringLaunch,
            openTasks: ending.killed?.openTasks ?? openTasks
        )
        ending.killed = nil
        reset(to: .notRunning, goal: .inactive)
        effects.append(.report(report))
    }
}
