import EideticFetch

/// The pace of a transfer: whether it is slow, and whether its progress is to be reported.
struct TransferPace {
    /// The length of a period, and the bytes per second below which a transfer is slow.
    private static let leastRate = (period: Duration.seconds(10), bytesPerSecond: 16 << 10)
    private static let reportInterval: Duration = .milliseconds(250)

    /// The bytes of a period, by which the rate is measured.
    private var rate = RateWindow()
    private var measuredCount: Int?
    /// A Boolean value indicating whether the rate of the last period was below the least rate.
    private(set) var isSlow = false
    /// The moment of the last report of progress, and the number that it had.
    private var lastReport: (time: Duration, count: Int) = (.zero, -1)

    /// Counts the bytes since the last call, and compares the rate with the least one at the end of each period.
    mutating func measure(_ count: Int, at now: Duration) {
        rate.add(max(0, count - (measuredCount ?? count)), at: now)
        measuredCount = count
        let (period, bytesPerSecond) = Self.leastRate
        guard let wait = rate.check(at: now, length: period, bytesPerSecond: bytesPerSecond) else { return }
        if wait == .zero { isSlow = true } else if wait == period { isSlow = false }
    }

    /// Returns whether a number is to be reported: if it has changed, at most four times a second.
    mutating func report(_ count: Int, at now: Duration) -> Bool {
        guard now - lastReport.time >= Self.reportInterval, count != lastReport.count else { return false }
        lastReport = (now, count)
        return true
    }
}
