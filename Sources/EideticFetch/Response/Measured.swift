/// Metrics in one place, however often the answer that they belong to is copied.
final class SharedMetrics: Sendable {
    let metrics: FetchMetrics

    init(_ metrics: FetchMetrics) { self.metrics = metrics }
}
