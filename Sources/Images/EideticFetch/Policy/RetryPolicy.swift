import EideticCore

/// The number of attempts of a download, and the back-off between them after temporary failures.
///
/// The back-off before the n-th retry is random between zero and `baseDelay` · 2ⁿ⁻¹ ("full jitter"), so that many
/// clients do not retry at the same time. A longer `Retry-After` replaces it.
public struct RetryPolicy: Sendable, Hashable {
    /// The largest number of attempts, the first one included; at least 1, 3 by default.
    public var maximumAttempts = 3

    /// The longest back-off before the second attempt; half a second by default.
    public var baseDelay: Duration = .milliseconds(500)

    /// The longest back-off before any attempt; 30 seconds by default.
    public var maximumDelay: Duration = .seconds(30)

    /// The longest `Retry-After` that is respected; 2 minutes by default.
    ///
    /// A download is not retried if the server requests a longer delay.
    public var maximumRetryAfter: Duration = .seconds(120)

    /// Creates a policy with default values.
    public init() {}

    /// A policy with a single attempt.
    public static let none: RetryPolicy = {
        var policy = RetryPolicy()
        policy.maximumAttempts = 1
        return policy
    }()

    /// Returns the back-off after a failed attempt, or `nil` if the download is not retried.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt that failed, counted from 1.
    ///   - retryAfter: The delay that the server requested.
    ///   - random: A random number from 0 up to, but not including, 1.
    /// - Returns: The back-off, or `nil`.
    package func delay(afterAttempt attempt: Int, retryAfter: Duration?, random: Double) -> Duration? {
        guard attempt < maximumAttempts else { return nil }
        if let retryAfter, retryAfter > maximumRetryAfter { return nil }
        let maximum = min(
            maximumDelay.inSeconds,
            baseDelay.inSeconds * Double(UInt64(1) << min(UInt64(attempt - 1), 40))
        )
        return max(.seconds(maximum * random), retryAfter ?? .zero)
    }
}
