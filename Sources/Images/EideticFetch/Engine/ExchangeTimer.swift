import EideticCore

/// The times of an exchange that its time-outs are measured by: that of the last byte, and the active one.
///
/// The time of pauses does not count. All times are those of the engine's clock.
struct ExchangeTimer {
    /// The time until the next time-out, and the fault if a time-out has been reached.
    typealias Check = (remaining: Duration, fault: String?)

    let start: Duration
    /// The time of the last byte.
    private(set) var lastActivity: Duration
    private var rateWindow = RateWindow()
    /// The duration of all pauses that have ended.
    private var pausedTime: Duration
    /// The start of the pause that has not ended.
    private var pauseStart: Duration?

    /// Starts the time of an exchange, or continues that of the exchange which it repeats.
    init(repeating previous: ExchangeTimer? = nil, at now: Duration) {
        start = previous?.start ?? now
        pausedTime = previous.map { now - $0.start - $0.activeTime(at: now) } ?? .zero
        lastActivity = now
    }

    /// Returns the time since the start, without pauses.
    func activeTime(at now: Duration) -> Duration {
        now - start - pausedTime - (pauseStart.map { now - $0 } ?? .zero)
    }

    mutating func pause(at now: Duration) { pauseStart = now }

    mutating func endPause(at now: Duration) {
        if let pauseStart { pausedTime += now - pauseStart }
        pauseStart = nil
    }

    /// Records that bytes of the response arrived, or may arrive again.
    mutating func recordActivity(byteCount: Int? = nil, at now: Duration) {
        lastActivity = now
        if let byteCount { rateWindow.add(byteCount, at: activeTime(at: now)) }
    }

    /// Returns the time until an exchange times out.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - limits: The request, which has the limits.
    ///   - leastRate: A least rate that applies besides that of the request, in bytes per second; 0 for none.
    /// - Returns: The time, and the first fault if no time is left.
    mutating func check(at now: Duration, limits: FetchRequest, leastRate: Int) -> Check {
        if pauseStart != nil { lastActivity = now }
        let activeTime = activeTime(at: now)
        var faults: [String] = []
        var remaining = limits.timeout - (now - lastActivity)
        if remaining <= .zero { faults.append("no byte for \(Self.text(for: limits.timeout))") }
        let rate = max(limits.minimumBytesPerSecond, leastRate)
        let length = limits.rateWindow
        if rate > 0, let left = rateWindow.check(at: activeTime, length: length, bytesPerSecond: rate) {
            if left == .zero { faults.append("less than \(rate) bytes per second for \(Self.text(for: length))") }
            remaining = min(remaining, left)
        }
        if let total = limits.totalTimeout {
            if total <= activeTime { faults.append("not complete after \(Self.text(for: total))") }
            remaining = min(remaining, total - activeTime)
        }
        return (remaining, faults.first)
    }

    private static func text(for limit: Duration) -> String { "\((limit.inSeconds * 10).rounded() / 10) s" }
}
