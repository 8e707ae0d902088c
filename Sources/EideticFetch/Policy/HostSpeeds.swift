import EideticCore

/// How fast origins were of late: a value without a clock of its own.
///
/// What was measured fades: by a quarter with each further download, by half in each minute, and altogether after five,
/// so that a slow host is tried again.
package struct HostSpeeds: Sendable {
    private struct Measured {
        var bytes = 0.0
        var seconds = 0.0
        var last: Duration
    }

    /// A smaller body says more about the way there than about the speed.
    static let smallestBody = 16_384
    static let halfLife: Duration = .seconds(60)
    static let lifetime: Duration = .seconds(300)
    /// Origins that are remembered at most.
    static let capacity = 1_024

    private var hosts: [Origin: Measured] = [:]

    package init() {}

    /// Notes a download, whether it was complete or not.
    package mutating func note(_ origin: Origin, _ metrics: FetchMetrics, now: Duration) {
        guard metrics.bodyBytes >= Self.smallestBody, metrics.total > .zero else { return }
        if hosts.count >= Self.capacity, hosts[origin] == nil { forgetOldest() }
        var host = hosts[origin] ?? Measured(last: now)
        var weight = 0.75
        // Another thread's later moment may have been noted before.
        for _ in 0..<Int(max(0, min(100, (now - host.last) / Self.halfLife))) { weight /= 2 }
        host.bytes = host.bytes * weight + Double(metrics.bodyBytes)
        host.seconds = host.seconds * weight + metrics.total.inSeconds
        host.last = max(host.last, now)
        hosts[origin] = host
    }

    /// Bytes a second of one download; `nil` where nothing was measured of late.
    package func bytesPerSecond(of origin: Origin, now: Duration) -> Double? {
        guard let host = hosts[origin], now - host.last < Self.lifetime else { return nil }
        return host.bytes / host.seconds
    }

    /// Forgets everything: the network is another one now.
    package mutating func reset() { hosts = [:] }

    private mutating func forgetOldest() {
        if let oldest = hosts.min(by: { $0.value.last < $1.value.last }) { hosts[oldest.key] = nil }
    }
}
