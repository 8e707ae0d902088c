/// The suspensions of a process: the one under way, and those before.
package struct SuspensionTimes: Sendable, Hashable {
    /// The time at which the process was suspended; `nil` while it runs.
    package private(set) var start: Duration?
    package private(set) var count: UInt64
    /// The time that was spent in suspensions that have ended.
    package private(set) var total: Duration

    /// Continues with what an earlier supervisor has recorded.
    package init(since start: Duration? = nil, count: UInt64 = 0, total: Duration = .zero) {
        self.start = start
        self.count = count
        self.total = total
    }

    /// Begins another suspension.
    package mutating func begin(at now: Duration) {
        start = now
        count += 1
    }

    /// Continues the suspension that an earlier supervisor has begun.
    package mutating func resume(at now: Duration) { start = start ?? now }

    /// Ends the suspension; returns its start, `nil` if there was none.
    package mutating func end(at now: Duration) -> Duration? {
        defer { start = nil }
        if let start { total += now - start }
        return start
    }

    /// Forgets the suspension, as it was not one, or the process is ended.
    package mutating func cancel() { start = nil }

    /// Returns the time that was spent in suspensions, with the one under way.
    package func total(at now: Duration) -> Duration { total + (start.map { now - $0 } ?? .zero) }
}
