/// A point in time, in nanoseconds since 1970-01-01 00:00 UTC.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// The nanoseconds since 1970-01-01 00:00 UTC.
    public var nanoseconds: Int64

    /// Creates the point in time `nanoseconds` after 1970-01-01 00:00 UTC.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Creates the point in time `seconds` after 1970-01-01 00:00 UTC.
    public init(seconds: Int64) { nanoseconds = seconds &* 1_000_000_000 }

    /// The whole seconds since 1970-01-01 00:00 UTC, rounded down.
    public var seconds: Int64 { Int64((Double(nanoseconds) / 1e9).rounded(.down)) }

    /// Returns `true` if the first point in time is earlier than the second.
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Returns the point in time `duration` later, clamped to the range of 64-bit nanoseconds.
    public static func + (moment: Timestamp, duration: Duration) -> Timestamp {
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(duration.inNanoseconds)
        return Timestamp(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// Returns the duration from `earlier` to `later`.
    public static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        .nanoseconds(later.nanoseconds &- earlier.nanoseconds)
    }
}
