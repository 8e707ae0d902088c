/// One thing that is measured.
struct BenchmarkCase: Sendable {
    /// What a sample counts; a time is converted from what the clock gave.
    enum Unit: String, Sendable {
        case nanoseconds = "ns"
        case microseconds = "us"
        case milliseconds = "ms"
        case seconds = "s"
        case perSecond = "1/s"
        case bytes = "B"
        case count = "count"
        case fraction = "fraction"
        case decibels = "dB"

        /// A time for one operation, in this unit.
        func value(seconds: Double) -> Double {
            switch self {
            case .nanoseconds: seconds * 1e9
            case .microseconds: seconds * 1e6
            case .milliseconds: seconds * 1e3
            case .perSecond: 1 / seconds
            case .seconds, .bytes, .count, .fraction, .decibels: seconds
            }
        }
    }

    /// Which way is better.
    enum Direction: String, Sendable { case lower, higher }

    /// What is aimed at: a ratio to the baseline, or a value of our own.
    enum Goal: Sendable { case ratio(Double), value(Double) }

    let name: String
    let unit: Unit
    let direction: Direction
    let goal: Goal?

    init(_ name: String, unit: Unit, better direction: Direction = .lower, goal: Goal? = nil) {
        self.name = name
        self.unit = unit
        self.direction = direction
        self.goal = goal
    }
}

/// Samples of one side of a case.
struct Samples: Sendable {
    let values: [Double]

    var minimum: Double { values.min() ?? .nan }

    var median: Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return .nan }
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}
