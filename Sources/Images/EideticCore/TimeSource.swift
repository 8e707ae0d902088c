import Glibc

/// A source of time; tests supply their own.
@usableFromInline
package protocol TimeSource: Sendable {
    /// The time of day, which may jump.
    var now: Timestamp { get }
    /// The time since some fixed moment; it never decreases, and it stops while the machine sleeps.
    var uptime: Duration { get }
}

/// The system's clocks.
package struct SystemTime: TimeSource {
    package init() {}

    /// The time of day, from `CLOCK_REALTIME`.
    package var now: Timestamp { Timestamp(nanoseconds: Self.time(of: CLOCK_REALTIME)) }

    /// The uptime, from `CLOCK_MONOTONIC`.
    package var uptime: Duration { .nanoseconds(Self.time(of: CLOCK_MONOTONIC)) }

    private static func time(of clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
