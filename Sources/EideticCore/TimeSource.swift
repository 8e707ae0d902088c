import Glibc

/// A moment, in nanoseconds since 1970-01-01 00:00 UTC.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Nanoseconds since 1970-01-01 00:00 UTC.
    public var nanoseconds: Int64

    /// Creates the moment `nanoseconds` after 1970-01-01 00:00 UTC.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Creates the moment `seconds` after 1970-01-01 00:00 UTC.
    public init(seconds: Int64) { nanoseconds = seconds &* 1_000_000_000 }

    /// Whole seconds since 1970-01-01 00:00 UTC, rounded down.
    public var seconds: Int64 { Int64((Double(nanoseconds) / 1e9).rounded(.down)) }

    /// Orders moments from earlier to later.
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The moment `duration` later; stays at the end of time instead of overflowing.
    public static func + (moment: Timestamp, duration: Duration) -> Timestamp {
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(duration.inNanoseconds)
        return Timestamp(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// The time from `earlier` to `later`.
    public static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        .nanoseconds(later.nanoseconds &- earlier.nanoseconds)
    }
}

extension Duration {
    /// The duration in nanoseconds, at most what 64 bits hold.
    package var inNanoseconds: Int64 {
        let (whole, overflow) = components.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return components.seconds < 0 ? .min : .max }
        return whole.addingReportingOverflow(components.attoseconds / 1_000_000_000).partialValue
    }

    /// The duration in milliseconds, with fractions.
    package var inMilliseconds: Double { Double(inNanoseconds) / 1e6 }

    /// The duration in seconds, with fractions.
    package var inSeconds: Double { Double(inNanoseconds) / 1e9 }
}

/// Where the time comes from; tests put in their own.
public protocol TimeSource: Sendable {
    /// The time of day. It may jump.
    var now: Timestamp { get }
    /// The time since some fixed moment. It never goes back, and stands still while the machine sleeps.
    var uptime: Duration { get }
}

/// The clocks of the system.
public struct SystemTime: TimeSource {
    /// Creates the system's time source.
    public init() {}

    /// `CLOCK_REALTIME`.
    public var now: Timestamp { Timestamp(nanoseconds: Self.time(of: CLOCK_REALTIME)) }

    /// `CLOCK_MONOTONIC`.
    public var uptime: Duration { .nanoseconds(Self.time(of: CLOCK_MONOTONIC)) }

    private static func time(of clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
