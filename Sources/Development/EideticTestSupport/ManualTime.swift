package import EideticCore

/// A time source that a test advances.
package final class ManualTime: TimeSource {
    private let state: Guarded<(now: Timestamp, uptime: Duration)>

    /// Creates a time source that stands at `now`; 2026-01-01 00:00 UTC by default.
    package init(now: Timestamp = Timestamp(seconds: 1_767_225_600), uptime: Duration = .seconds(1_000)) {
        state = Guarded((now, uptime))
    }

    package var now: Timestamp { state.withLock { $0.now } }

    package var uptime: Duration { state.withLock { $0.uptime } }

    /// Advances both the time of day and the uptime.
    package func advance(by duration: Duration) {
        state.withLock { state in
            state.now = state.now + duration
            state.uptime += duration
        }
    }

    /// Sets the time of day only, as an administrator does.
    package func set(now: Timestamp) { state.withLock { $0.now = now } }
}
