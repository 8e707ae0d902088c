import EideticCore

/// What came of an exchange.
struct TransferOutcome: Sendable {
    /// `nil` where the answer's head never came.
    var head: ResponseHead?
    /// What came of the body; a part of it where there is an error.
    var body: [UInt8] = []
    /// `nil` where the exchange was complete, whatever its status.
    var error: EideticError?
    var measured = Measured(FetchMetrics())
    /// Where a redirect leads, as an absolute URL.
    var redirect: String?
    /// Whether the process was stopped while the exchange was under way.
    var wasStopped = false
    /// Whether it was held back for a time, so that its own time says nothing about the server.
    var wasHeld = false
    /// Whether the server sent another part of the body than it was asked for.
    var isWrongRange = false

    var metrics: FetchMetrics { measured.metrics }

    static let cancelled = TransferOutcome(error: .cancelled)
}
