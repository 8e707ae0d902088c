import EideticCore

/// Lets a report of progress through when the last one is long enough ago.
///
/// The first report of a download always passes, and the last one where the length is known.
package final class ProgressThrottle: Sendable {
    private let interval: Duration
    private let time: any TimeSource
    private let lastReport = Guarded<Duration?>(nil)

    init(interval: Duration, time: any TimeSource) {
        self.interval = interval
        self.time = time
    }

    package func allows(_ progress: FetchProgress) -> Bool {
        let now = time.uptime
        return lastReport.withLock { last in
            if let last, now - last < interval, progress.received != progress.expected { return false }
            last = now
            return true
        }
    }
}
