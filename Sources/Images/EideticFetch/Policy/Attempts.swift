import EideticCore

/// The attempts of one download, and the decision about what follows a failed one.
///
/// A pure value: random numbers and the budget of retries are the caller's.
struct Attempts: Sendable {
    /// A decision about what follows a failed attempt.
    enum Decision: Hashable {
        /// The next attempt begins at once, and takes nothing from the budget.
        case again
        /// The next attempt begins after a delay.
        case retry(after: Duration)
        case stop
    }

    private(set) var count = 1
    /// The number of attempts that a stop of the process may still cost: it is not a failure, but a debugger must not
    /// keep a download alive for ever.
    private var freeCount = 3
    private let policy: RetryPolicy
    private let isIdempotent: Bool
    /// A Boolean value indicating whether the request is attempted again by the policy.
    let mayRetry: Bool
    private let request: FetchRequest
    private let rule: (@Sendable (FetchAttempt) -> Duration?)?
    /// The largest number of attempts that a rule of the program can lead to.
    static let limit = 100

    init(of request: FetchRequest, configuration: Downloader.Configuration) {
        policy = configuration.retryPolicy
        self.request = request
        rule = configuration.retryRule
        isIdempotent = request.isIdempotent
        mayRetry = request.ignoresFailureList || configuration.alwaysRetries
    }

    /// Decides what follows a failed attempt.
    ///
    /// - Parameters:
    ///   - failure: The failure.
    ///   - random: The random number of the delay, from 0 to 1.
    ///   - budget: Takes a retry from the budget of the downloader; returns `false` if it is used up.
    /// - Returns: The decision.
    mutating func next(after failure: DownloadFailure, random: Double, budget: () -> Bool) -> Decision {
        guard isIdempotent else { return .stop }
        let delay: Duration?
        if failure.wasStopped, failure.error.isTransportFailure, freeCount > 0 {
            freeCount -= 1
            delay = nil
        } else {
            let isRetried = mayRetry && FailureConsequences(of: failure.error).isRetried
            let standard =
                isRetried ? policy.delay(afterAttempt: count, retryAfter: failure.retryAfter, random: random) : nil
            guard let pause = rule.map({ ruled(by: $0, after: failure, standard: standard) }) ?? standard,
                rule != nil || budget()
            else { return .stop }
            delay = pause
        }
        count += 1
        return delay.map { .retry(after: $0) } ?? .again
    }

    /// Returns the delay by the program's own rule; `nil` if the download is not attempted again.
    private func ruled(
        by rule: @Sendable (FetchAttempt) -> Duration?,
        after failure: DownloadFailure,
        standard: Duration?
    ) -> Duration? {
        guard count < Self.limit, ![.cancelled, .offline].contains(failure.error.code) else { return nil }
        let attempt = FetchAttempt(
            request: request,
            error: failure.error,
            count: count,
            retryAfter: failure.retryAfter,
            standardDelay: standard
        )
        return rule(attempt).map { max($0, failure.retryAfter ?? .zero, .zero) }
    }
}
