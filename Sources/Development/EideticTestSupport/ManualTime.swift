package import EideticCore

/// A clock that a test moves.
package final class ManualTime: TimeSource {
    private let state: Guarded<(now: Timestamp, uptime: Duration)>

    /// Creates a clock that stands at `now`; 2026-01-01 00:00 UTC by default.
    package init(now: Timestamp = Timestamp(seconds: 1_767_225_600), uptime: Duration = .seconds(1_000)) {
        state = Guarded((now, uptime))
    }

    package var now: Timestamp { state.withLock { $0.now } }

    package var uptime: Duration { state.withLock { $0.uptime } }

    /// Lets time pass: both the time of day and the time since the start move on.
    package func advance(by duration: Duration) {
        state.withLock { state in
            state.now = state.now + duration
            state.uptime += duration
        }
    }

    /// Sets the time of day alone, as an administrator does.
    package func set(now: Timestamp) { state.withLock { $0.now = now } }
}
