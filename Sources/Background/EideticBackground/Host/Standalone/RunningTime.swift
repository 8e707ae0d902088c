/// The time in which this process ran: the uptime without the time in which it was stopped.
///
/// A debugger, SIGSTOP or a freezer stops a process without a notification. It shows afterwards: a wait took longer
/// than it could have. So waits are short while a limit runs, and no more than the planned time of each is counted.
package struct RunningTime: Sendable {
    /// The time in which the process ran, since the same moment as the uptime.
    package private(set) var now: Duration
    /// The time in which it did not.
    package var lost: Duration { uptime - now }

    private var uptime: Duration
    /// The time that may pass until the next call of `advance(to:)`.
    private var planned: Duration = .zero

    /// The delay of a wait, or the time between two readings of the clock, that a busy machine may cause.
    private static let tolerance: Duration = .milliseconds(100)

    /// Starts at an uptime.
    package init(at uptime: Duration) {
        now = uptime
        self.uptime = uptime
    }

    /// Announces a wait, so that its length is counted.
    package mutating func plan(_ duration: Duration) { planned = max(.zero, duration) }

    /// Advances to an uptime; what exceeds the planned time by more than a busy machine explains is not counted.
    package mutating func advance(to next: Duration) {
        let passed = max(.zero, next - uptime)
        now += passed <= planned + Self.tolerance ? passed : planned
        uptime = max(uptime, next)
        planned = .zero
    }

    /// Skips to an uptime: the process is known to have been stopped since the last reading.
    package mutating func skip(to next: Duration) {
        uptime = max(uptime, next)
        planned = .zero
    }

    /// Returns the longest wait before a deadline: short enough that a stop within it costs the deadline little.
    ///
    /// - Parameters:
    ///   - remaining: The time to the deadline.
    ///   - isStrict: `true` for the limits of callbacks, which are short.
    ///   - isIdle: `true` if nothing is open that the deadline would end.
    /// - Returns: 50 ms if strict; otherwise, a tenth of the remaining time, 50 ms to 1 s, or 10 s if idle.
    package static func longestWait(before remaining: Duration, isStrict: Bool, isIdle: Bool) -> Duration {
        let shortest = Duration.milliseconds(50)
        let wait = isStrict ? shortest : min(max(shortest, remaining / 10), isIdle ? .seconds(10) : .seconds(1))
        return min(wait, max(.zero, remaining))
    }
}
