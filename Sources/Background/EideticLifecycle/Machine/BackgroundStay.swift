/// The stay of an application in the background: its time, the tasks, wakes and assertions for which it runs, and its
/// expiration.
package struct BackgroundStay: Sendable, Hashable {
    /// The number of open background tasks, as last reported.
    package internal(set) var openTasks = 0
    var wakes = OpenWakes()
    /// The activities for which the application runs in the background without a limit.
    package internal(set) var assertions: Set<ContinuousAssertion> = []
    /// The time at which open tasks expire because of a request to terminate, or to stop.
    package internal(set) var graceDeadline: Duration?
    var sleep: SleepProgress?

    /// The remaining time; `nil` for no limit.
    private var remaining: Duration?
    private(set) var isRunning = false
    /// The end of the time that runs, unless it has no limit.
    private var deadline: Duration?
    /// The time of the last return to the foreground; `nil` before the first stay in the background.
    private var foregroundSince: Duration?
    /// The time at which the process is killed if tasks are open; set at expiration, cleared when all tasks have ended.
    package private(set) var killDeadline: Duration?
    /// A Boolean value indicating whether the time has expired: no task may start until the application returns to the
    /// foreground or is woken.
    package private(set) var isExpired = false
    /// The wake whose missing completion caused the expiration.
    private(set) var overdueWake: WakeReason?

    init(time: Duration?) { remaining = time }

    /// A Boolean value indicating whether nothing but the wait for a suspension keeps the application running.
    var isIdle: Bool { openTasks == 0 && wakes.isEmpty }

    // MARK: Time

    /// The end of the time: that of the budget or of a later wake, bounded by a request to terminate or a sleep.
    var end: Duration? {
        guard isRunning else { return nil }
        let own = deadline.map { max($0, wakes.latestDeadline ?? $0) }
        return [own, graceDeadline, sleep?.expirationTime].compactMap(\.self).min()
    }

    /// The times at which something is to be done while the time runs.
    var deadlines: [Duration?] {
        [isExpired ? nil : end, killDeadline, overdueWake == nil ? wakes.earliestDeadline : nil]
    }

    /// The phase of the application's tasks, with the end of the time.
    var phase: LifecycleEffect { .setTaskPhase(isExpired ? .expiring : .background, deadline: end) }

    /// Starts the time; a long enough stay in the foreground restores it to its full length.
    mutating func start(under rules: LifecycleRules, at now: Duration) {
        if foregroundSince.map({ now - $0 >= rules.budgetRefillTime }) ?? true { remaining = rules.backgroundBudget }
        resume(at: now)
        wakes.restartLimits(under: rules, at: now)
    }

    mutating func resume(at now: Duration) {
        isRunning = true
        deadline = assertions.isEmpty ? remaining.map { now + $0 } : nil
    }

    mutating func pause(at now: Duration) {
        hold(at: now)
        isRunning = false
    }

    /// Stops the time, but not the limits that a request to terminate or a sleep sets.
    mutating func hold(at now: Duration) {
        if let deadline { remaining = max(.zero, deadline - now) }
        deadline = nil
    }

    /// Ends the stay; the remaining time is kept in case the application returns soon.
    mutating func leave(at now: Duration) {
        pause(at: now)
        foregroundSince = now
        forgive()
    }

    mutating func suspend(at now: Duration) {
        pause(at: now)
        graceDeadline = nil
        isExpired = false
        killDeadline = nil
    }

    // MARK: Expiration

    /// A Boolean value indicating whether a wake waits for the end of an expiration, because it must not give open
    /// tasks more time.
    var isExpirationUnderWay: Bool { isExpired && (openTasks > 0 || sleep != nil || wakes.hasDelivered) }

    /// Expires the time: calls all handlers and admits no further task.
    ///
    /// Tasks that are open when the machine sleeps continue when it wakes; the process is not killed for them.
    mutating func expire(under rules: LifecycleRules, at now: Duration) -> [LifecycleEffect] {
        var effects: [LifecycleEffect] = []
        if !isExpired {
            isExpired = true
            effects.append(.setTaskPhase(.expiring, deadline: now))
        }
        guard !isIdle, killDeadline == nil else { return effects }
        let deadline = sleep?.releaseTime ?? now + rules.expirationLimit
        if sleep == nil { killDeadline = deadline }
        return effects + [.expireTasks(deadline: deadline)]
    }

    /// Charges a wake that was not completed in time to the application, and expires the open tasks.
    mutating func expireOverdueWake(under rules: LifecycleRules, at now: Duration) -> [LifecycleEffect] {
        guard overdueWake == nil, let overdue = wakes.overdue(at: now) else { return [] }
        overdueWake = overdue
        return [.penalizeWake(overdue)] + expire(under: rules, at: now)
    }

    /// The reason to kill the process for tasks or wakes that are open after the expiration; `nil` if only wakes are,
    /// for which nobody is killed.
    var killReason: KillReason? {
        if let wake = overdueWake, wakes.contains(wake.id) { return wake.kind == .session ? .session : .wake }
        return openTasks > 0 ? .backgroundTask : nil
    }

    /// Ends the limit at which the process is killed.
    mutating func endKillLimit() { killDeadline = nil }

    /// Ends the consequences of an expiration, as everything has ended.
    mutating func settle() {
        killDeadline = nil
        overdueWake = nil
    }

    /// Grants time again after an expiration.
    mutating func forgive() {
        isExpired = false
        settle()
    }

    /// Starts the limit again if it has passed, as the process could not run.
    mutating func restartKillLimit(_ limit: Duration, at now: Duration) {
        if let end = killDeadline, end <= now { killDeadline = now + limit }
    }

    /// Takes the wakes that the application has completed.
    mutating func complete(_ id: UInt64) -> [WakeReason] {
        if overdueWake?.id == id { overdueWake = nil }
        return wakes.take(id)
    }
}
