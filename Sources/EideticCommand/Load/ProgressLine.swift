import EideticCore

/// The line that shows how far a run is.
struct ProgressLine: Sendable {
    /// What has been done.
    var tally: LoadTally
    /// How many URLs are being loaded.
    var runningCount = 0
    /// Bytes that came over the network, of finished and unfinished pictures.
    var receivedBytes = 0
    /// The bytes of all these pictures when they are complete.
    var expectedBytes = 0
    private var rate = DownloadRate()
    private let start: Duration

    init(total: Int, start: Duration) {
        tally = LoadTally(total: total)
        self.start = start
        rate.addSample(0, at: start)
    }

    /// The line at a moment, at most `width` columns long.
    ///
    /// `[=======>            ]  12/40  1 failed  8.2 MB  2.1 MB/s  0:14 left`; what has no room is left out.
    mutating func text(at moment: Duration, width: Int) -> String {
        rate.addSample(receivedBytes, at: moment)
        var parts = ["\(tally.finishedCount)/\(tally.total)"]
        if tally.failedCount > 0 { parts.append("\(tally.failedCount) failed") }
        if receivedBytes > 0 { parts.append(ByteCount(receivedBytes).description) }
        if receivedBytes > 0, let rate = rate.bytesPerSecond { parts.append("\(rate)/s") }
        if let left = remainingTime(at: moment) { parts.append("\(TimeFormat.clock(for: left)) left") }
        var text = parts.joined(separator: "  ")
        // The bar's width follows from the terminal's alone, so that it does not jump.
        let bar = min(30, width - 50)
        if bar >= 8, bar + 4 + TerminalText.columnCount(of: text) <= width {
            text = "[\(self.bar(width: bar))]  \(text)"
        }
        return TerminalText.truncated(text, width: width)
    }

    /// What the rest takes if it goes on as it went; unknown before there is something to go by.
    private func remainingTime(at moment: Duration) -> Duration? {
        let (done, total) = (Double(tally.finishedCount), Double(tally.total))
        guard done < total else { return nil }
        if let rate = rate.bytesPerSecond, rate > .zero, expectedBytes > 0 {
            // Those that have not begun will need what the others needed on average; from a cache that is nothing.
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
