package struct SuspensionProgress: Sendable, Hashable {
    /// The time since which no task was open.
    private var idleSince: Duration?
    /// Requested by job control, as by Ctrl-Z: without waiting for the idle interval.
    var isRequested = false
    /// The time at which an unconfirmed freeze has failed.
    var freezeDeadline: Duration?
    /// The time of the next attempt after a failed freeze.
    package private(set) var retryTime: Duration?
    /// The time of the last suspension with contended locks.
    private var lastLockWarning: Duration?

    /// Returns the time at which an idle application is suspended; `nil` while it is not idle.
    func idleDeadline(under rules: LifecycleRules) -> Duration? {
        idleSince.map { max($0 + rules.idleInterval, retryTime ?? .zero) }
    }

    /// Records that a task is open.
    mutating func endIdleness() { idleSince = nil }

    /// Forgets earlier attempts, as the application returns to the foreground.
    mutating func reset() {
        idleSince = nil
        retryTime = nil
    }

    /// Begins a freeze after the idle interval, or at once; returns `false` if it is not due.
    mutating func beginFreeze(atOnce: Bool, under rules: LifecycleRules, at now: Duration) -> Bool {
        let since = idleSince ?? now
        idleSince = since
        let isDue = atOnce || isRequested || now >= since + rules.idleInterval
        guard isDue, retryTime.map({ $0 <= now }) ?? true else { return false }
        freezeDeadline = now + rules.freezeLimit
        return true
    }

    mutating func cancelFreeze() {
        freezeDeadline = nil
        idleSince = nil
    }

    mutating func retry(at time: Duration) { retryTime = time }

    /// Records a suspension with contended locks; returns `false` if there was one shortly before.
    mutating func warnAboutLocks(under rules: LifecycleRules, at now: Duration) -> Bool {
        if let last = lastLockWarning, now - last <= rules.lockViolationWindow { return false }
        lastLockWarning = now
        return true
    }
}
