import EideticCore

/// The line that shows how far a run is.
struct ProgressLine: Sendable {
    /// What has been done.
    var tally: LoadTally
    /// How many URLs are being loaded.
    var running = 0
    /// Bytes that came over the network, of finished and unfinished pictures.
    var received = 0
    /// The bytes of all these pictures when they are complete.
    var announced = 0
    private var rate = TransferRate()
    private let start: Duration

    init(total: Int, start: Duration) {
        tally = LoadTally(total: total)
        self.start = start
        rate.note(0, at: start)
    }

    /// The line at a moment, at most `width` columns long.
    ///
    /// `[=======>            ]  12/40  1 failed  8.2 MB  2.1 MB/s  0:14 left`; what has no room is left out.
    mutating func text(at moment: Duration, width: Int) -> String {
        rate.note(received, at: moment)
        var parts = ["\(tally.finished)/\(tally.total)"]
        if tally.failed > 0 { parts.append("\(tally.failed) failed") }
        if received > 0 { parts.append(ByteCount(received).description) }
        if received > 0, let rate = rate.bytesPerSecond { parts.append("\(rate)/s") }
        if let left = timeLeft(at: moment) { parts.append("\(Moments.clock(left)) left") }
        var text = parts.joined(separator: "  ")
        // The bar's width follows from the terminal's alone, so that it does not jump.
        let bar = min(30, width - 50)
        if bar >= 8, bar + 4 + Printable.columns(text) <= width { text = "[\(self.bar(bar))]  \(text)" }
        return Printable.fit(text, width: width)
    }

    /// What the rest takes if it goes on as it went; unknown before there is something to go by.
    private func timeLeft(at moment: Duration) -> Duration? {
        let (done, total) = (Double(tally.finished), Double(tally.total))
        guard done < total else { return nil }
        if let rate = rate.bytesPerSecond, rate > .zero, announced > 0 {
            // Those that have not begun will need what the others needed on average; from a cache that is nothing.
            let begun = done + Double(max(1, running))
            let rest = Double(announced - received) + Double(announced) / begun * max(0, total - begun)
            return .seconds(rest / Double(rate.bytes))
        }
        return done == 0 ? nil : .seconds((moment - start).inSeconds / done * (total - done))
    }

    private func bar(_ width: Int) -> String {
        let done = tally.total == 0 ? width : width * tally.finished / tally.total
        guard done < width else { return String(repeating: "=", count: width) }
        return String(repeating: "=", count: done) + ">" + String(repeating: " ", count: width - done - 1)
    }
}
