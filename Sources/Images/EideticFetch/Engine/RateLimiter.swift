import EideticCore

/// A token bucket that limits the bytes per second of all exchanges; it holds the bytes of a tenth of a second.
///
/// It is used on the engine's thread only. Each chunk consumes tokens, because libcurl reads as long as bytes are
/// available.
final class RateLimiter {
    private let bytesPerSecond: Double
    private var tokens = 0.0
    private var lastRefill: Duration

    init(bytesPerSecond: Int, now: Duration) {
        self.bytesPerSecond = Double(max(1, bytesPerSecond))
        lastRefill = now
    }

    /// Adds the tokens for the time since the last call.
    func refill(at now: Duration) {
        tokens = min(bytesPerSecond / 10, tokens + bytesPerSecond * (now - lastRefill).inSeconds)
        lastRefill = now
    }

    /// Consumes the tokens for a chunk.
    ///
    /// A chunk may be larger than the number of tokens; the next one is delayed accordingly.
    ///
    /// - Returns: `false` if there are no tokens and the chunk must wait; otherwise, `true`.
    func consume(_ byteCount: Int) -> Bool {
        guard tokens > 0 else { return false }
        tokens -= Double(byteCount)
        return true
    }

    /// The time until a chunk may arrive; zero if it may arrive now.
    var delay: Duration { tokens > 0 ? .zero : .seconds((1 - tokens) / bytesPerSecond) }
}
