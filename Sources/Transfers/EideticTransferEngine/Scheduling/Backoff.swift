/// Delays between attempts after failures of the transport: random, up to a bound that doubles.
package struct Backoff: Sendable {
    /// The bound after the first failure.
    package var firstBound: Duration = .seconds(1)
    /// The largest bound.
    package var lastBound: Duration = .seconds(600)
    /// A function that returns a random number from 0 to 1.
    package var random: @Sendable () -> Double = { Double.random(in: 0...1) }

    package init() {}

    /// Returns the delay after `attempts` failures in a row.
    package func delay(afterAttempts attempts: Int) -> Duration {
        var bound = firstBound
        for _ in 1..<max(1, min(attempts, 64)) where bound < lastBound { bound *= 2 }
        return min(bound, lastBound) * random()
    }
}
