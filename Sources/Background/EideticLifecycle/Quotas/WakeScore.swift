/// The worth of an application's fetches, by their results and their cost.
package struct WakeScore: Sendable, Hashable {
    /// The share of fetches that are expected to be worth their cost: 1 after new data, less after others.
    package var value = 1.0
    /// The average time of a fetch in seconds, in which the last one counts a quarter.
    package var averageSeconds = 0.0
    package var failureCount = 0

    package init() {}

    /// The least score, at which an application is woken a tenth as often.
    static let least = 0.1

    package mutating func record(_ result: WakeResult, seconds: Int64) {
        switch result {
        case .newData: value = 1
        case .noData: value = Swift.max(Self.least, value * 0.8)
        case .failed: value = Swift.max(Self.least, value * 0.5)
        }
        failureCount = result == .failed ? failureCount + 1 : 0
        averageSeconds = averageSeconds * 0.75 + Double(Swift.max(0, seconds)) * 0.25
    }

    /// The factor by which the interval between two fetches is longer than the application asks for: 1 to 20.
    package var intervalFactor: Double { (1 + Swift.min(1, averageSeconds / 30)) / value }

    /// The pause in seconds after failures: 30 s, doubled by each further one, at most 5 h; 0 without one.
    package var backoff: Int64 { Self.backoff(afterFailures: failureCount) }

    static func backoff(afterFailures count: Int) -> Int64 {
        count == 0 ? 0 : Swift.min(5 * .hour, 30 << Int64(Swift.min(20, count - 1)))
    }
}
