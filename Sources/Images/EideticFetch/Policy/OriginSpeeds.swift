import EideticCore

/// The recent download speed of each origin, as a value without a clock of its own.
///
/// A measurement loses a quarter of its weight with each further download and half of it with each minute. It expires
/// after five minutes, so that an origin that was slow is tried again.
package struct OriginSpeeds: Sendable {
    private struct Measurement {
        var bytes = 0.0
        var seconds = 0.0
        var lastUpdate: Duration
    }

    /// The size below which the duration of a download measures latency rather than speed.
    static let minimumBodySize = 16_384
    static let halfLife: Duration = .seconds(60)
    static let lifetime: Duration = .seconds(300)
    /// The largest number of origins with a measurement.
    static let capacity = 1_024

    private var measurements: [Origin: Measurement] = [:]

    package init() {}

    /// Records a download, complete or not.
    package mutating func recordDownload(from origin: Origin, metrics: FetchMetrics, now: Duration) {
        guard metrics.bodyBytes >= Self.minimumBodySize, metrics.total > .zero else { return }
        if measurements.count >= Self.capacity, measurements[origin] == nil { removeOldest() }
        var measurement = measurements[origin] ?? Measurement(lastUpdate: now)
        var weight = 0.75
        // Another thread may have recorded a later time already; then there is no half-life to apply.
        for _ in 0..<Int(max(0, min(100, (now - measurement.lastUpdate) / Self.halfLife))) { weight /= 2 }
        measurement.bytes = measurement.bytes * weight + Double(metrics.bodyBytes)
        measurement.seconds = measurement.seconds * weight + metrics.total.inSeconds
        measurement.lastUpdate = max(measurement.lastUpdate, now)
        measurements[origin] = measurement
    }

    /// Returns the bytes per second of one download, or `nil` without a recent measurement.
    package func bytesPerSecond(of origin: Origin, now: Duration) -> Double? {
        guard let measurement = measurements[origin], now - measurement.lastUpdate < Self.lifetime else { return nil }
        return measurement.bytes / measurement.seconds
    }

    /// Removes all measurements, after a change of the network.
    package mutating func reset() { measurements = [:] }

    private mutating func removeOldest() {
        if let oldest = measurements.min(by: { $0.value.lastUpdate < $1.value.lastUpdate }) {
            measurements[oldest.key] = nil
        }
    }
}
