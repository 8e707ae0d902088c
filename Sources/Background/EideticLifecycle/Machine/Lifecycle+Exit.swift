// The end of the process, and of what it leaves unfinished.
extension Lifecycle {
    /// Ends the application for the user; only the user can start it again.
    mutating func forceQuit() {
        if isRunning { kill(.userForceQuit) }
        abandonWaitingLaunch(because: .forceQuit)
        history.wasForceQuit = true
        effects += [.deleteArchive, .cancelTransfers]
    }

    mutating func abandonWaitingLaunch(because refusal: LifecycleEffect.Refusal) {
        report(waiting.wakes.map(\.reason), as: .failed)
        for url in waiting.urls { effects.append(.reportURL(url, .refused(refusal))) }
        waiting = WaitingLaunch()
    }

    /// Records the end of the current process, or of one that was killed; has no effect if it has ended before.
    mutating func recordExit(status: Int32) {
        guard isRunning || termination.killedProcess != nil else { return }
        let killed = termination.killedProcess
        let duringLaunch = currentState == .launching
        if duringLaunch { recordLaunchFailure() }
        let report = ExitReport(
            process: process,
            status: status,
            killReason: killed?.reason,
            wasLaunching: killed?.wasLaunching ?? duringLaunch,
            openTasks: killed?.openTasks ?? stay.openTasks
        )
        endProcess(countsWakes: killed == nil)
        // The process may have saved its state again after the user had ended it.
        if killed?.reason == .userForceQuit { effects.append(.deleteArchive) }
        effects.append(.reportExit(report))
        launchIfWaiting()
    }

    /// Ends a launch whose process never ran, keeps the saved state, and counts no crash.
    mutating func recordMissingStart() {
        guard currentState == .launching else { return }
        endProcess(countsWakes: false)
        launchIfWaiting()
    }

    mutating func kill(_ reason: KillReason) {
        let duringLaunch = currentState == .launching
        let killed = KilledProcess(reason: reason, wasLaunching: duringLaunch, openTasks: stay.openTasks)
        effects.append(.killProcess(reason))
        endProcess(countsWakes: reason.isLimit)
        termination.killedProcess = killed
        if duringLaunch, case .watchdog = reason { recordLaunchFailure() }
    }

    /// Ends the process: its work is abandoned, and the wakes that it has not received wait for the next one.
    private mutating func endProcess(countsWakes: Bool) {
        let isInUse = currentState != .launching && !isTerminating
        if isInUse, countsWakes { history.recordEnd(during: stay.wakes.deliveredKinds) }
        abandonOpenWork(keepsWakes: isInUse)
        reset(to: .notRunning, isVisible: true)
    }

    private mutating func recordLaunchFailure() {
        history.launchCrashCount += 1
        effects.append(.deleteArchive)
    }

    /// Reports the wakes and URLs of the process that will never be completed.
    ///
    /// - Parameter keepsWakes: Whether the wakes that were not delivered wait for the next process.
    mutating func abandonOpenWork(keepsWakes: Bool = false) {
        if keepsWakes { report(stay.wakes.takeDelivered(), as: .failed) }
        let rest = stay.wakes.takeAll()
        if keepsWakes { waiting.wakes = rest + waiting.wakes } else { report(rest.map(\.reason), as: .failed) }
        let refusal: LifecycleEffect.Refusal = isTerminating ? .terminating : .processEnded
        for url in urls.takeUnanswered() { effects.append(.reportURL(url, .refused(refusal))) }
    }

    mutating func report(_ reasons: [WakeReason], as result: WakeResult) {
        effects += reasons.map { .reportWake($0, result) }
    }
}
