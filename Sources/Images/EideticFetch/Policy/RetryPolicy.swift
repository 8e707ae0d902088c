public import EideticCore

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

/// A failed attempt of a download, as passed to ``Downloader/Configuration/retryRule``.
public struct FetchAttempt: Sendable {
    /// The request, after the `requestModifier`.
    public let request: FetchRequest
    /// The error of the attempt.
    public let error: EideticError
    /// The number of attempts so far, from 1 on.
    public let count: Int
    /// The delay in the server's `Retry-After` field; `nil` without one.
    public let retryAfter: Duration?
    /// The delay of the standard policy before the next attempt; `nil` if it would not retry.
    public let standardDelay: Duration?
}

/// A clock for the back-off between two attempts; tests replace it.
package protocol RetryClock: Sendable {
    /// Returns after `delay`, or as soon as the task is cancelled.
    func wait(for delay: Duration) async
}

struct SystemRetryClock: RetryClock {
    func wait(for delay: Duration) async { try? await Task.sleep(for: delay) }
}

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
