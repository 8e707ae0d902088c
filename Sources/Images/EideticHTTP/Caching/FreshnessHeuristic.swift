import EideticCore

/// The heuristic freshness of responses without an explicit lifetime.
package struct FreshnessHeuristic: Sendable, Hashable {
    /// The fraction of the time since the last modification; 0.1 by default, as RFC 9111 suggests.
    package var fraction = 0.1
    /// The longest heuristic lifetime; 1 day by default.
    package var maximumLifetime = Duration.seconds(86_400)

    /// Returns the lifetime of a response that was last modified so long before it was sent.
    func lifetime(forAge age: Duration) -> Duration {
        let seconds = max(0, age.inSeconds * fraction)
        // Not a number is not below the limit either.
        return seconds < maximumLifetime.inSeconds ? .seconds(seconds) : maximumLifetime
    }

    package init() {}

    /// A heuristic that makes responses without an explicit lifetime stale at once.
    package static let none: FreshnessHeuristic = {
        var heuristic = FreshnessHeuristic()
        heuristic.maximumLifetime = .zero
        return heuristic
    }()
}
