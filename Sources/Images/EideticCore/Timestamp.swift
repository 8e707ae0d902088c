import Glibc

/// A point in time, in nanoseconds since 1970-01-01 00:00 UTC.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// The nanoseconds since 1970-01-01 00:00 UTC.
    @usableFromInline package var nanoseconds: Int64

    /// The current time of day.
    public static var now: Timestamp { SystemTime().now }

    /// Creates the point in time `nanoseconds` after 1970-01-01 00:00 UTC.
    @usableFromInline
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Creates the point in time `seconds` after 1970-01-01 00:00 UTC, clamped to the range of 64-bit nanoseconds.
    public init(seconds: Int64) { nanoseconds = Duration.seconds(seconds).inNanoseconds }

    /// The whole seconds since 1970-01-01 00:00 UTC, rounded down.
    public var seconds: Int64 {
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// Returns `true` if the first point in time is earlier than the second.
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Returns the point in time `duration` later, clamped to the range of 64-bit nanoseconds.
    public static func + (moment: Timestamp, duration: Duration) -> Timestamp {
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(duration.inNanoseconds)
        return Timestamp(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// Returns the duration from `earlier` to `later`, clamped to the range of 64-bit nanoseconds.
    public static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        let (difference, overflow) = later.nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
        return .nanoseconds(overflow ? (later < earlier ? .min : .max) : difference)
    }
}

extension Timestamp {
    init(_ time: timespec) { self = Timestamp(seconds: Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec)) }

    var timespec: timespec {
        let seconds = self.seconds
        return Glibc.timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds &- seconds &* 1_000_000_000))
    }
}
