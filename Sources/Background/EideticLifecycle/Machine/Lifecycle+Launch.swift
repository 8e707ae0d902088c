// Launches and wakes.
extension Lifecycle {
    /// A Boolean value indicating whether a process is about to end, so that a launch waits for its exit.
    var isEnding: Bool { isRunning ? isTerminating : termination.killedProcess != nil }

    /// A Boolean value indicating whether a launch waits for the end of the previous process.
    package var isLaunchWaiting: Bool { !waiting.isEmpty }

    mutating func launch(for reason: LaunchReason) {
        if case .url(let url) = reason, !accept(url) { return }
        if isEnding { return waiting.add(reason) }
        if isRunning { return enterForeground() }
        start(.launch(reason))
    }

    /// Adds a URL to those that are delivered one by one; refuses it if too many wait.
    private mutating func accept(_ url: IncomingURL) -> Bool {
        guard urls.count + waiting.urls.count < rules.waitingURLLimit else {
            effects.append(.reportURL(url, .refused(.tooManyRequests)))
            return false
        }
        if isEnding { waiting.urls.append(url) } else { urls.append(url) }
        return true
    }

    mutating func launchInBackground(for reason: LaunchReason) {
        if isEnding { return waiting.addBackgroundLaunch(for: reason) }
        if !isRunning { start(.launchInBackground(reason)) }
    }

    mutating func launchBackgroundJob() {
        guard !isRunning, !isEnding else { return }
        start(.launchInBackground(.user))
        facts = PresentationFacts(isLocked: facts.isLocked, isHeldByJobControl: true)
    }

    mutating func connect(inBackground: Bool) {
        guard !isRunning, !isEnding else { return effects.append(.refuse(.alreadyRunning)) }
        start(inBackground ? .launchInBackground(.user) : .launch(.user), spawnsProcess: false)
    }

    /// Launches the process that runs, visible as it is.
    mutating func introduce() {
        guard isRunning, currentState != .launching, !isTerminating else { return }
        if currentState >= .suspending { effects.append(.thawProcess) }
        let facts = facts
        abandonOpenWork()
        reset(to: .launching, isVisible: facts.isVisible)
        self.facts = facts
        let limit = rules.launchLimit
        let isVisible = facts.isVisible
        effects.append(.setTaskPhase(isVisible ? .foreground : .background, deadline: isVisible ? nil : now + limit))
        deliver(isVisible ? .launch(.user) : .launchInBackground(.user), within: limit)
    }

    private mutating func start(_ callback: LifecycleCallback, spawnsProcess: Bool = true) {
        let isVisible = if case .launch = callback { true } else { false }
        let waitingURLs = urls.forNextProcess
        reset(to: .launching, isVisible: isVisible)
        urls = waitingURLs
        process = process.next
        if isVisible { history = LaunchHistory() }
        if spawnsProcess { effects.append(.spawnProcess(process)) }
        let end = isVisible ? nil : now + rules.launchLimit
        effects.append(.setTaskPhase(isVisible ? .foreground : .background, deadline: end))
        deliver(callback, within: rules.launchLimit)
    }

    mutating func wake(for reason: WakeReason, allowance: Duration) {
        if let refusal = refusal(of: reason, allowance: allowance) { return effects.append(.refuse(refusal)) }
        let wake = OpenWake(reason, allowance: allowance)
        if isEnding { return waiting.wakes.append(wake) }
        if !isRunning { start(.launchInBackground(.wake(reason.kind))) }
        stay.wakes.append(wake)
    }

    private func refusal(of reason: WakeReason, allowance: Duration) -> LifecycleEffect.Refusal? {
        if !rules.declaredWakeKinds.contains(reason.kind) { return .undeclaredMode }
        if isTerminating, isRunning { return .terminating }
        if history.wasForceQuit { return .forceQuit }
        if allowance <= .zero { return .allowanceExhausted }
        if stay.wakes.count + waiting.wakes.count >= rules.openWakeLimit { return .tooManyRequests }
        if !isRunning, history.isCrashingAtLaunch(under: rules) { return .repeatedLaunchCrashes }
        if isCrashing(in: reason.kind) { return .repeatedWakeCrashes }
        return nil
    }

    /// Returns the reason for which the application is not woken for a kind, apart from its declarations.
    package func obstacle(toWakesFor kind: WakeReason.Kind) -> LifecycleEffect.Refusal? {
        guard rules.declaredWakeKinds.contains(kind) else { return nil }
        return history.obstacle(toWakesFor: kind, isRunning: isRunning, under: rules)
    }

    /// Returns a Boolean value indicating whether a wake is accepted, apart from the number and the time of wakes.
    package func mayBeWoken(for kind: WakeReason.Kind) -> Bool {
        rules.declaredWakeKinds.contains(kind) && obstacle(toWakesFor: kind) == nil
    }

    /// Returns a Boolean value indicating whether the application has ended so often during wakes of a kind that it is
    /// not woken for them until the user uses it.
    package func isCrashing(in kind: WakeReason.Kind) -> Bool { history.isCrashing(in: kind, under: rules) }

    /// Launches the application again, if that was requested while its process was ending.
    mutating func launchIfWaiting() {
        var waited = waiting
        waiting = WaitingLaunch()
        if waited.reason == nil {
            report(waited.takeWakes { isCrashing(in: $0) }, as: .failed)
            if history.isCrashingAtLaunch(under: rules) { return report(waited.wakes.map(\.reason), as: .failed) }
        }
        urls = URLQueue(waited.urls)
        if let callback = waited.callback { start(callback) }
        stay.wakes = OpenWakes(waited.wakes)
    }
}
