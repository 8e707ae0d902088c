import EideticCore

/// The download speed: the mean of the last five seconds.
struct DownloadRate: Sendable {
    private static let span = Duration.seconds(5)

    private var samples: [(moment: Duration, total: Int)] = []

    /// Adds a sample of the total number of bytes.
    mutating func addSample(_ total: Int, at moment: Duration) {
        samples.append((moment, total))
        // One sample older than the span is kept, so that the samples always cover the span.
        while samples.count > 2, moment - samples[1].moment >= Self.span { samples.removeFirst() }
    }

    /// The number of bytes per second; `nil` for samples of less than a quarter of a second.
    var bytesPerSecond: ByteCount? {
        guard let first = samples.first, let last = samples.last else { return nil }
        let seconds = (last.moment - first.moment).inSeconds
        return seconds < 0.25 ? nil : ByteCount(Int(Double(last.total - first.total) / seconds))
    }
}
