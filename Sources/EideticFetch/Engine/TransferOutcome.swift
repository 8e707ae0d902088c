import EideticCore

/// What came of an exchange.
struct ExchangeOutcome: Sendable {
    /// `nil` where the answer's head never came.
    var head: ResponseHead?
    /// What came of the body; a part of it where there is an error.
    var body: [UInt8] = []
    /// `nil` where the exchange was complete, whatever its status.
    var error: EideticError?
    var sharedMetrics = SharedMetrics(FetchMetrics())
    /// Where a redirect leads, as an absolute URL.
    var redirectTarget: String?
    /// Whether the process was stopped while the exchange was under way.
    var wasStopped = false
    /// Whether it was held back for a time, so that its own time says nothing about the server.
    var wasPaused = false
    /// Whether the server sent another part of the body than it was asked for.
    var hasUnrequestedRange = false

    var metrics: FetchMetrics { sharedMetrics.metrics }

    static let cancelled = ExchangeOutcome(error: .cancelled)
}
