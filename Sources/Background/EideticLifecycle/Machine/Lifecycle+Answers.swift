// The results of wakes, the answers to URLs, and continuous assertions.
extension Lifecycle {
    mutating func completeWake(_ id: UInt64, result: WakeResult) {
        let completed = stay.complete(id)
        for reason in completed { history.wakeCrashCounts[reason.kind] = nil }
        report(completed, as: result)
    }

    /// Reports the answer to the URL that was delivered and not yet answered.
    mutating func answerURL(_ id: UInt64, isHandled: Bool) {
        guard case .openURL(let url)? = pendingCallback?.callback, url.id == id, urls.answer(id) else { return }
        effects.append(.reportURL(url, isHandled ? .handled : .notHandled))
    }

    /// Removes the URL that the application has opened; without an answer it was not handled.
    mutating func finishURL(_ url: IncomingURL) {
        if !urls.finish(url) { effects.append(.reportURL(url, .notHandled)) }
    }

    mutating func changeAssertion(_ assertion: ContinuousAssertion, isHeld: Bool) {
        guard isRunning else { return }
        if isHeld, !rules.declaredAssertions.contains(assertion) { return effects.append(.refuse(.undeclaredMode)) }
        let hadAssertion = !stay.assertions.isEmpty
        if isHeld { stay.assertions.insert(assertion) } else { stay.assertions.remove(assertion) }
        if stay.assertions.isEmpty == hadAssertion { applyAssertions() }
    }

    /// Stops the budget while an assertion is held; an expiration that has begun goes on.
    private mutating func applyAssertions() {
        if stay.assertions.isEmpty {
            if stay.isRunning { stay.resume(at: now) }
        } else {
            stay.hold(at: now)
            if !suspension.isRequested { continueFrozenProcess() }
        }
        updateDeadline()
    }

    /// Continues a process that was frozen although it has taken an assertion, as its message arrived too late.
    private mutating func continueFrozenProcess() {
        switch currentState {
        case .suspending where !stay.isExpired: cancelFreeze()
        case .suspended: thawIntoBackground()
        default: break
        }
    }
}
