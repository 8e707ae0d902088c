/// A benchmark: its name, unit, direction and goal.
struct BenchmarkCase: Sendable {
    /// The unit of a sample.
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

        /// Converts the time of one operation to this unit; other samples stay unchanged.
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

    /// The direction of improvement: lower or higher numbers are better.
    enum Direction: String, Sendable { case lower, higher }

    /// A performance goal: a ratio to the baseline, or an absolute value.
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
