import EideticCore

/// The bytes of a response that arrived within a period, which begins with its first byte.
///
/// Times are those of the exchange without pauses, so a download that is suspended or held is not charged.
package struct RateWindow {
    private var start: Duration?
    private var byteCount = 0

    /// Creates a period that has not begun.
    package init() {}

    /// Adds received bytes; the first ones start the period.
    package mutating func add(_ count: Int, at now: Duration) {
        if start == nil { start = now }
        byteCount += count
    }

    /// Checks the rate at the end of the period, and then starts the next one.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - length: The length of the period.
    ///   - bytesPerSecond: The least rate.
    /// - Returns: The time until the next check; zero if fewer bytes arrived; `nil` before the first byte.
    package mutating func check(at now: Duration, length: Duration, bytesPerSecond: Int) -> Duration? {
        guard let start else { return nil }
        guard now - start >= length else { return length - (now - start) }
        guard Double(byteCount) >= Double(bytesPerSecond) * (now - start).inSeconds else { return .zero }
        self.start = now
        byteCount = 0
        return length
    }
}
