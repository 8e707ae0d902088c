import EideticTransfer

/// The discretionary transfers that wait for conditions of the machine and of its network, at most a day.
struct ConditionWatch {
    /// The treatment of a discretionary transfer.
    enum Admission: Sendable, Hashable {
        case runs
        /// It has waited for the longest time, and does not wait again.
        case isOverdue
        /// It waits, until the time if it did not wait before.
        case waits(until: Duration?)
    }

    /// The longest time for which a transfer waits.
    static let limit: Duration = .seconds(86_400)

    private let conditions: any TransferConditions
    private let interval: Duration
    private var held: Set<UInt64> = []
    private var unmet: [WaitReason] = []
    private var nextCheck: Duration = .zero
    var isMetered = false

    /// Creates the watch, with the time between two looks at the conditions.
    init(_ conditions: any TransferConditions, interval: Duration) {
        self.conditions = conditions
        self.interval = interval
    }

    /// The time of the next look; `nil` while nothing waits.
    var deadline: Duration? { held.isEmpty ? nil : nextCheck }

    var transfers: [UInt64] { held.sorted() }

    /// The conditions that discretionary transfers wait for.
    var reasons: [WaitReason] {
        let metered = WaitReason(.meteredNetwork, text: "waits for a network that is not metered, at most 24 hours")
        return unmet + (isMetered ? [metered] : [])
    }

    func isHeld(_ number: UInt64) -> Bool { held.contains(number) }

    /// Returns whether a transfer waits that was added at a time.
    mutating func admit(_ number: UInt64, addedAt start: Duration, at now: Duration) -> Admission {
        refresh(at: now)
        let end = start + Self.limit
        if end > now, !reasons.isEmpty { return .waits(until: held.insert(number).inserted ? end : nil) }
        held.remove(number)
        return end > now ? .runs : .isOverdue
    }

    /// Forgets a transfer, which waits for nothing any more.
    mutating func release(_ number: UInt64) { held.remove(number) }

    /// Looks at the conditions again if it is time; returns the transfers that may run.
    mutating func check(at now: Duration) -> [UInt64] {
        guard !held.isEmpty, now >= nextCheck else { return [] }
        refresh(at: now)
        return reasons.isEmpty ? transfers : []
    }

    private mutating func refresh(at now: Duration) {
        guard now >= nextCheck else { return }
        unmet = conditions.unmetConditions()
        nextCheck = now + interval
    }
}
