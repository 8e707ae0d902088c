import EideticCore

/// How many bytes may come now: a bucket that fills steadily and holds a tenth of a second's worth.
///
/// One for all transfers of an engine, on its thread alone. libcurl reads on as long as there is something to read, so
/// each piece asks.
final class RateLimiter {
    private let bytesPerSecond: Double
    private var tokens = 0.0
    private var lastRefill: Duration

    init(bytesPerSecond: Int, now: Duration) {
        self.bytesPerSecond = Double(max(1, bytesPerSecond))
        lastRefill = now
    }

    /// Fills the bucket with what has become free since the last look.
    func refill(at now: Duration) {
        tokens = min(bytesPerSecond / 10, tokens + bytesPerSecond * (now - lastRefill).inSeconds)
        lastRefill = now
    }

    /// Takes a piece of so many bytes; gives false where it must come later.
    ///
    /// The last piece may be larger than what is left: the next one waits the longer for it.
    func consume(_ byteCount: Int) -> Bool {
        guard tokens > 0 else { return false }
        tokens -= Double(byteCount)
        return true
    }

    /// How long until bytes may come again; zero where they may.
    var delay: Duration { tokens > 0 ? .zero : .seconds((1 - tokens) / bytesPerSecond) }
}
