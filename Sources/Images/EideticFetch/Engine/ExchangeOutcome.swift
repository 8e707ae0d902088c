import EideticCore

struct ExchangeOutcome: Sendable {
    /// The head of the response; `nil` if none arrived.
    var head: ResponseHead?
    /// The body, or the part of it that arrived before an error.
    var body: [UInt8] = []
    /// The error of the exchange; `nil` if a complete response arrived, whatever its status.
    var error: EideticError?
    /// A Boolean value indicating whether the server could not be reached: no connection was made, or no byte of a
    /// response came within the time-out.
    var isUnreachable = false
    /// The uptime at which the exchange started; `nil` if it was not sent.
    var startTime: Duration?
    /// The uptime at which the exchange ended; `nil` if it was not sent.
    var endTime: Duration?
    /// The share of the body in the limit of all bodies in memory.
    var share: BodyShare?
    var sharedMetrics = SharedMetrics(FetchMetrics())
    /// The absolute URL of a redirect's target.
    var redirectTarget: String?
    /// A Boolean value indicating whether the process was stopped during the exchange.
    var wasStopped = false
    /// A Boolean value indicating whether the response has another range than requested.
    var hasUnrequestedRange = false

    var metrics: FetchMetrics { sharedMetrics.metrics }

    mutating func countAttempts(_ count: Int) {
        var metrics = metrics
        metrics.attemptCount = count
        sharedMetrics = SharedMetrics(metrics)
    }

    static let cancelled = ExchangeOutcome(error: .cancelled)
}
