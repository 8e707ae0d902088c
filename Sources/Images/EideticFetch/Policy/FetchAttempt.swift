public import EideticCore

/// A failed attempt of a download, about which the program's own rule decides.
public struct FetchAttempt: Sendable {
    /// The request, after the `requestModifier`.
    public let request: FetchRequest
    /// The error of the attempt.
    public let error: EideticError
    /// The number of attempts so far, from 1 on.
    public let count: Int
    /// The delay that the server asked for with `Retry-After`; `nil` if it asked for none.
    public let retryAfter: Duration?
    /// The time after which the download would be attempted again without the rule; `nil` if it would not be.
    public let standardDelay: Duration?
}
