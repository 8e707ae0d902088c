/// A token bucket that limits the retries of all downloads together, so that retries do not overload a failing server.
///
/// Each new download adds a tenth of a token. Each retry removes one.
struct RetryBudget: Sendable {
    private let capacity: Double
    private var tokens: Double

    init(capacity: Int) {
        self.capacity = Double(capacity)
        tokens = self.capacity
    }

    mutating func deposit() { tokens = min(capacity, tokens + 0.1) }

    /// Removes one token; returns `false` if there is none.
    mutating func withdraw() -> Bool {
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
