/// A reference to metrics, so that copies of a response share them.
final class SharedMetrics: Sendable {
    let metrics: FetchMetrics

    init(_ metrics: FetchMetrics) { self.metrics = metrics }
}
