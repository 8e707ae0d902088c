import EideticCLI
import EideticCore

/// The progress line of a run.
struct ProgressLine: Sendable {
    /// The results so far.
    var tally: LoadTally
    /// The number of URLs that are being loaded.
    var runningCount = 0
    /// The number of bytes received from the network, for finished and unfinished images.
    var receivedBytes = 0
    /// The total number of bytes of these images.
    var expectedBytes = 0
    private var rate = DownloadRate()
    private let start: Duration

    init(total: Int, start: Duration) {
        tally = LoadTally(total: total)
        self.start = start
        rate.addSample(0, at: start)
    }

    /// Returns the line at the given time, with at most `width` columns.
    ///
    /// For example `[=======>            ]  12/40  1 failed  8.2 MB  2.1 MB/s  0:14 left`, truncated to the width.
    mutating func text(at moment: Duration, width: Int) -> String {
        rate.addSample(receivedBytes, at: moment)
        var parts = ["\(tally.finishedCount)/\(tally.total)"]
        if tally.failedCount > 0 { parts.append("\(tally.failedCount) failed") }
        if receivedBytes > 0 { parts.append(ByteCount(receivedBytes).description) }
        if receivedBytes > 0, let rate = rate.bytesPerSecond { parts.append("\(rate)/s") }
        if let left = remainingTime(at: moment) { parts.append("\(TimeFormat.clock(for: left)) left") }
        var text = parts.joined(separator: "  ")
        // The width of the bar depends on that of the terminal only, so that it stays constant.
        let bar = min(30, width - 50)
        if bar >= 8, bar + 4 + TerminalText.columnCount(of: text) <= width {
            text = "[\(self.bar(width: bar))]  \(text)"
        }
        return TerminalText.truncated(text, width: width)
    }

    /// Returns the estimated remaining time; `nil` without data for an estimate.
    private func remainingTime(at moment: Duration) -> Duration? {
        let (done, total) = (Double(tally.finishedCount), Double(tally.total))
        guard done < total else { return nil }
        if let rate = rate.bytesPerSecond, rate > .zero, expectedBytes > 0 {
            // Images that have not started are assumed to need the average number of bytes, which is 0 from a cache.
            let startedCount = done + Double(max(1, runningCount))
            let remainingBytes =
                Double(expectedBytes - receivedBytes) + Double(expectedBytes) / startedCount
                * max(0, total - startedCount)
            return .seconds(remainingBytes / Double(rate.bytes))
        }
        return done == 0 ? nil : .seconds((moment - start).inSeconds / done * (total - done))
    }

    private func bar(width: Int) -> String {
        let done = tally.total == 0 ? width : width * tally.finishedCount / tally.total
        guard done < width else { return String(repeating: "=", count: width) }
        return String(repeating: "=", count: done) + ">" + String(repeating: " ", count: width - done - 1)
    }
}
