/// A wake that was accepted and is not completed.
package struct OpenWake: Sendable, Hashable {
    package let reason: WakeReason
    package let allowance: Duration
    /// The time limit of the wake; set on delivery.
    fileprivate(set) var deadline: Duration?

    package var isDelivered: Bool { deadline != nil }

    package init(_ reason: WakeReason, allowance: Duration, deadline: Duration? = nil) {
        self.reason = reason
        self.allowance = allowance
        self.deadline = deadline
    }

    /// The wake as it was accepted, without a time limit.
    package var accepted: OpenWake { OpenWake(reason, allowance: allowance) }

    package var event: LifecycleEvent { .wake(reason, allowance: allowance) }

    fileprivate func limit(under rules: LifecycleRules) -> Duration { min(rules.limit(of: reason.kind), allowance) }
}

/// The wakes of a process that are not completed.
struct OpenWakes: Sendable, Hashable {
    private(set) var entries: [OpenWake] = []

    init(_ entries: [OpenWake] = []) { self.entries = entries }

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    var latestDeadline: Duration? { entries.compactMap(\.deadline).max() }
    var earliestDeadline: Duration? { entries.compactMap(\.deadline).min() }
    var deliveredKinds: Set<WakeReason.Kind> { Set(entries.filter(\.isDelivered).map(\.reason.kind)) }
    var hasDelivered: Bool { entries.contains(where: \.isDelivered) }

    func contains(_ id: UInt64) -> Bool { entries.contains { $0.reason.id == id } }

    /// Returns the first wake whose limit has passed.
    func overdue(at now: Duration) -> WakeReason? {
        entries.first { $0.deadline.map { $0 <= now } ?? false }?.reason
    }

    mutating func append(_ wake: OpenWake) { entries.append(wake) }

    /// Counts the oldest undelivered wake as delivered; returns it with its limit, `nil` if there is none.
    mutating func deliverNext(under rules: LifecycleRules, at now: Duration) -> (WakeReason, limit: Duration)? {
        guard let index = entries.firstIndex(where: { !$0.isDelivered }) else { return nil }
        let limit = entries[index].limit(under: rules)
        entries[index].deadline = now + limit
        return (entries[index].reason, limit)
    }

    /// Starts the limits of the delivered wakes again.
    mutating func restartLimits(under rules: LifecycleRules, at now: Duration) {
        for index in entries.indices where entries[index].isDelivered {
            entries[index].deadline = now + entries[index].limit(under: rules)
        }
    }

    /// Takes the wakes that the application has completed.
    mutating func take(_ id: UInt64) -> [WakeReason] {
        defer { entries.removeAll { $0.reason.id == id } }
        return entries.map(\.reason).filter { $0.id == id }
    }

    /// Takes the wakes that were delivered, which will never be completed.
    mutating func takeDelivered() -> [WakeReason] {
        defer { entries.removeAll(where: \.isDelivered) }
        return entries.filter(\.isDelivered).map(\.reason)
    }

    mutating func takeAll() -> [OpenWake] {
        defer { entries = [] }
        return entries
    }
}
