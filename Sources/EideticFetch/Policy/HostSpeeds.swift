import EideticCore

/// How fast origins were of late: a value without a clock of its own.
///
/// What was measured fades: by a quarter with each further download, by half in each minute, and altogether after five,
/// so that a slow host is tried again.
package struct OriginSpeeds: Sendable {
    private struct Measurement {
        var bytes = 0.0
        var seconds = 0.0
        var lastUpdate: Duration
    }

    /// A smaller body says more about the way there than about the speed.
    static let minimumBodySize = 16_384
    static let halfLife: Duration = .seconds(60)
    static let lifetime: Duration = .seconds(300)
    /// Origins that are remembered at most.
    static let capacity = 1_024

    private var measurements: [Origin: Measurement] = [:]

    package init() {}

    /// Notes a download, whether it was complete or not.
    package mutating func recordDownload(from origin: Origin, metrics: FetchMetrics, now: Duration) {
        guard metrics.bodyBytes >= Self.minimumBodySize, metrics.total > .zero else { return }
        if measurements.count >= Self.capacity, measurements[origin] == nil { removeOldest() }
        var measurement = measurements[origin] ?? Measurement(lastUpdate: now)
        var weight = 0.75
        // Another thread's later moment may have been noted before.
        for _ in 0..<Int(max(0, min(100, (now - measurement.lastUpdate) / Self.halfLife))) { weight /= 2 }
        measurement.bytes = measurement.bytes * weight + Double(metrics.bodyBytes)
        measurement.seconds = measurement.seconds * weight + metrics.total.inSeconds
        measurement.lastUpdate = max(measurement.lastUpdate, now)
        measurements[origin] = measurement
    }

    /// Bytes a second of one download; `nil` where nothing was measured of late.
    package func bytesPerSecond(of origin: Origin, now: Duration) -> Double? {
        guard let measurement = measurements[origin], now - measurement.lastUpdate < Self.lifetime else { return nil }
        return measurement.bytes / measurement.seconds
    }

    /// Forgets everything: the network is another one now.
    package mutating func reset() { measurements = [:] }

    private mutating func removeOldest() {
        if let oldest = measurements.min(by: { $0.value.lastUpdate < $1.value.lastUpdate }) {
            measurements[oldest.key] = nil
        }
    }
}
