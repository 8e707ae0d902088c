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

/// The processor time of this process.
package enum ProcessorTime {
    /// The processor time that the calling thread has used since its start (`CLOCK_THREAD_CPUTIME_ID`).
    package static var ofThread: Duration { reading(of: CLOCK_THREAD_CPUTIME_ID) }

    /// The processor time that all threads of this process have used (`CLOCK_PROCESS_CPUTIME_ID`).
    package static var ofProcess: Duration { reading(of: CLOCK_PROCESS_CPUTIME_ID) }

    private static func reading(of clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

extension Duration {
    /// The duration in nanoseconds, clamped to 64 bits.
    package var inNanoseconds: Int64 {
        let (whole, overflow) = components.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return components.seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = whole.addingReportingOverflow(components.attoseconds / 1_000_000_000)
        return sumOverflow ? (components.seconds < 0 ? .min : .max) : sum
    }

    /// The duration in milliseconds, with fractions.
    package var inMilliseconds: Double { Double(inNanoseconds) / 1e6 }

    /// The duration with one decimal, as in `12.3 ms`.
    package var millisecondText: String {
        let tenths = Int((inMilliseconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) ms"
    }

    /// The duration in seconds, with fractions.
    package var inSeconds: Double { Double(inNanoseconds) / 1e9 }
}
