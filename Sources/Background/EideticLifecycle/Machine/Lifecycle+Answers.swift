// The results of wakes, the answers to URLs, and continuous assertions.
extension Lifecycle {
    mutating func applyAnswer(_ event: LifecycleEvent) {
        switch event {
        case .wakeCompleted(let id, let result, _): completeWake(id, result: result)
        case .urlAnswered(let id, let isHandled, _): answerURL(id, isHandled: isHandled)
        case .assertionChanged(let assertion, let isHeld, _): changeAssertion(assertion, isHeld: isHeld)
        default: break
        }
    }

    private mutating func completeWake(_ id: UInt64, result: WakeResult) {
        let completed = wakes.entries.map(\.reason).filter { $0.id == id }
        for reason in completed { wakeCrashCounts[reason.kind] = nil }
        report(completed, as: result)
        wakes.entries.removeAll { $0.reason.id == id }
        if budget.overdueWake?.id == id { budget.overdueWake = nil }
    }

    /// Reports the answer to the URL that was delivered and not yet answered.
    private mutating func answerURL(_ id: UInt64, isHandled: Bool) {
        guard case .openURL(let url)? = pendingCallback?.callback, url.id == id, answeredURL == nil else { return }
        answeredURL = id
        effects.append(.reportURL(url, isHandled ? .handled : .notHandled))
    }

    /// Removes the URL that the application has opened; without an answer it was not handled.
    mutating func finishURL(_ url: IncomingURL) {
        if urls.first == url { urls.removeFirst() }
        if answeredURL == nil { effects.append(.reportURL(url, .notHandled)) }
        answeredURL = nil
    }

    private mutating func changeAssertion(_ assertion: ContinuousAssertion, isHeld: Bool) {
        guard isRunning else { return }
        if isHeld, !rules.declaredAssertions.contains(assertion) { return effects.append(.refuse(.undeclaredMode)) }
        let hadAssertion = !assertions.isEmpty
        if isHeld { assertions.insert(assertion) } else { assertions.remove(assertion) }
        if assertions.isEmpty == hadAssertion { applyAssertions() }
    }

    /// Stops the budget while an assertion is held; an expiration that has begun goes on.
    private mutating func applyAssertions() {
        if assertions.isEmpty {
            if budget.isRunning { resumeBudget() }
        } else {
            holdBudget()
            if !suspension.isRequested { continueFrozenProcess() }
        }
        updateDeadline()
    }

    /// Continues a process that was frozen although it has taken an assertion, as its message arrived too late.
    private mutating func continueFrozenProcess() {
        switch currentState {
        case .suspending where !budget.isExpired: cancelFreeze()
        case .suspended: thawIntoBackground()
        default: break
        }
    }
}
