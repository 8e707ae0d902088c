public import EideticCore

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
