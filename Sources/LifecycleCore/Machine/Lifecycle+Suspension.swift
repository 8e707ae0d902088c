// Freeze, verify, commit; and back.
extension Lifecycle {
    mutating func applySuspension(_ event: LifecycleEvent) {
        switch event {
        case .suspend(let limit): suspend(within: limit)
        case .continueInBackground: continueInBackground()
        case .frozen(let tasks, let blocksOthers): frozen(openTasks: tasks, blocksOthers: blocksOthers)
        case .adopted(let found, let tasks): adopt(found, openTasks: tasks)
        default: break
        }
    }

    private mutating func suspend(within limit: Duration) {
        guard isRunning, goal != .end else { return }
        goal = .background
        suspension.isRequested = true
        // The grace runs from the request; callbacks on the way have their own limits.
        ending.graceDeadline = now + limit
    }

    private mutating func continueInBackground() {
        guard isRunning, goal != .end else { return }
        (suspension.isRequested, ending.graceDeadline) = (false, nil)
        if position == .suspended { thawIntoBackground() } else if position == .suspending { cancelFreeze() }
    }

    /// Asks for the freeze when nothing has been open for a while; at once where time is up, or a stop was asked for.
    mutating func freezeWhenQuiet() -> Bool {
        let since = suspension.quietSince ?? now
        suspension.quietSince = since
        let isDue = budget.isExpired || suspension.isRequested || now >= since + rules.quietTime
        guard isDue, suspension.retryAt.map({ $0 <= now }) ?? true else { return false }
        position = .suspending
        suspension.freezeDeadline = now + rules.freezeLimit
        effects.append(.freeze)
        return false
    }

    private mutating func frozen(openTasks count: Int, blocksOthers: Bool) {
        guard position == .suspending else { return }
        openTasks = count
        suspension.freezeDeadline = nil
        if blocksOthers { return locksFound() }
        guard count == 0, wakes.open.isEmpty else { return cancelFreeze() }
        position = .suspended
        pauseBudget()
        (suspension, ending.graceDeadline) = (SuspensionState(), nil)
        (budget.isExpired, budget.killDeadline) = (false, nil)
        effects.append(.commitSuspension)
    }

    private mutating func locksFound() {
        if let last = suspension.lockWarning, now - last <= rules.lockPatience { return kill(.lockHeld) }
        suspension.lockWarning = now
        effects.append(.warnOfLocks)
        cancelFreeze()
    }

    /// Gives up a freeze: something began in between, or it is not wanted any more.
    mutating func cancelFreeze() {
        position = .background
        (suspension.freezeDeadline, suspension.quietSince) = (nil, nil)
        effects += [.phase(budget.isExpired ? .expiring : .background, deadline: backgroundDeadline), .thaw]
    }

    mutating func freezeFailed() {
        cancelFreeze()
        suspension.retryAt = now + rules.freezeRetry
        effects.append(.throttle)
    }

    /// Suspended, and there is a reason to go on.
    mutating func resume() -> Bool {
        guard goal != .background || !wakes.open.isEmpty else { return false }
        thawIntoBackground()
        return true
    }

    /// Runs again, unseen: first of all it gets the notices that were held back.
    mutating func thawIntoBackground() {
        position = .background
        budget.deadline = now + budget.left
        effects += [.phase(.background, deadline: backgroundDeadline), .thaw, .deliverNotices]
    }

    /// A new supervisor takes over what it finds; a running application in the background gets a fresh budget.
    private mutating func adopt(_ found: LifecycleEvent.Adopted, openTasks count: Int) {
        switch found {
        case .foreground: reset(to: .active, goal: .active)
        case .background: reset(to: .background, goal: .background)
        case .suspended: reset(to: .suspended, goal: .background)
        }
        openTasks = count
        if found == .foreground { effects.append(.phase(.foreground, deadline: nil)) }
        if found == .background { openBudget() }
    }
}
