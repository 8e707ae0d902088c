/// A limit of the messages per second: a bucket with twice that number of tokens.
package struct MessageBucket: Sendable {
    private let rate: Int
    private var tokens: Double
    private var moment: Duration

    package init(rate: Int, at moment: Duration) {
        self.rate = max(1, rate)
        tokens = Double(2 * max(1, rate))
        self.moment = moment
    }

    /// Takes a token; returns `false` if there is none.
    package mutating func take(at now: Duration) -> Bool {
        let (seconds, attoseconds) = (now - moment).components
        if now > moment {
            tokens = min(Double(2 * rate), tokens + (Double(seconds) + Double(attoseconds) / 1e18) * Double(rate))
            moment = now
        }
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }

    /// The time until there is a token.
    package var delay: Duration { tokens >= 1 ? .zero : .seconds((1 - tokens) / Double(rate)) }

    /// Returns whether nothing was taken for so long that the bucket is full.
    package func isFull(at now: Duration) -> Bool {
        var copy = self
        // Refills, and takes one.
        return copy.take(at: now) && copy.tokens >= Double(2 * rate - 1)
    }
}
