import EideticCore

/// How fast bytes come: the mean of the last seconds.
struct DownloadRate: Sendable {
    private static let span = Duration.seconds(5)

    private var samples: [(moment: Duration, total: Int)] = []

    /// Notes how many bytes there are in all at a moment.
    mutating func addSample(_ total: Int, at moment: Duration) {
        samples.append((moment, total))
        // One sample older than the span stays, so that the span is always covered.
        while samples.count > 2, moment - samples[1].moment >= Self.span { samples.removeFirst() }
    }

    /// Bytes a second; `nil` before there is a quarter of a second to look back on.
    var bytesPerSecond: ByteCount? {
        guard let first = samples.first, let last = samples.last else { return nil }
        let seconds = (last.moment - first.moment).inSeconds
        return seconds < 0.25 ? nil : ByteCount(Int(Double(last.total - first.total) / seconds))
    }
}
