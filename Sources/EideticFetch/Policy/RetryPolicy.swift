package import EideticCore

/// When and how often a download is tried again after a failure that may pass.
///
/// The wait before the n-th further attempt is random between zero and `baseDelay` · 2ⁿ⁻¹ ("full jitter"), so that many
/// clients do not come back at the same moment. A server's `Retry-After` counts where it asks for longer.
public struct RetryPolicy: Sendable, Hashable {
    /// Attempts in all, the first one included; at least 1, 3 by default.
    public var maximumAttempts = 3

    /// The longest wait before the second attempt; half a second by default.
    public var baseDelay: Duration = .milliseconds(500)

    /// The longest wait before any attempt; 30 seconds by default.
    public var maximumDelay: Duration = .seconds(30)

    /// The longest wait that a server may ask for; who asks for more is not tried again.
    ///
    /// 2 minutes by default.
    public var maximumRetryAfter: Duration = .seconds(120)

    /// Creates a policy with the defaults above.
    public init() {}

    /// One attempt, and no more.
    public static let none: RetryPolicy = {
        var policy = RetryPolicy()
        policy.maximumAttempts = 1
        return policy
    }()

    /// The wait after `attempt` attempts have failed; `nil` where there is to be no other.
    ///
    /// `attempt` counts from 1, `retryAfter` is what the server asked for, `random` is a number from 0 up to 1.
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

extension EideticError {
    /// Whether the way failed: the server did not answer, or not to the end.
    var isTransportFailure: Bool { isTransient && code != .httpStatus }

    /// Whether the failure is one of the way and not of what was asked for: the next attempt may succeed.
    package var isTransient: Bool {
        switch code {
        case .hostNotFound, .connectionRefused, .connectionLost, .timedOut, .lengthMismatch: true
        case .httpStatus: httpStatus.map { $0 >= 500 || [408, 425, 429].contains($0) } ?? false
        default: false
        }
    }
}

/// How many further attempts all downloads together may make, so that a server in trouble is not buried under them.
///
/// Each new download adds a tenth of an attempt, each further attempt takes one.
struct RetryBudget: Sendable {
    private let capacity: Double
    private var tokens: Double

    init(capacity: Int) {
        self.capacity = Double(capacity)
        tokens = self.capacity
    }

    mutating func deposit() { tokens = min(capacity, tokens + 0.1) }

    mutating func withdraw() -> Bool {
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
