package import EideticCore

/// A filter that limits how often the progress of a download is reported.
///
/// The first report always passes, and so does the last one if the length is known.
package final class ProgressThrottle: Sendable {
    private let interval: Duration
    private let time: any TimeSource
    private let lastReport = Guarded<Duration?>(nil)

    init(interval: Duration, time: any TimeSource) {
        self.interval = interval
        self.time = time
    }

    package func allows(_ progress: LoadProgress) -> Bool {
        let now = time.uptime
        return lastReport.withLock { last in
            if let last, now - last < interval, progress.received != progress.expected { return false }
            last = now
            return true
        }
    }
}
