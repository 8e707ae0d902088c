/// The use of the processor by an application in the background: rules without I/O.
///
/// The application may use a share of one processor. One that uses more during a whole window is slowed down; if it
/// still does in the next window, its background time ends early.
package struct ProcessorUse: Sendable {
    /// A decision, with the share that was used, in percent of one processor.
    package enum Decision: Sendable, Hashable {
        case slowDown(percent: Int)
        case callIn(percent: Int)
        /// It uses no more than its share again.
        case restore
    }

    private let limit: Int
    private let window: Duration
    private var start: (time: Duration, used: Duration)?
    private var isSlowed = false

    /// Creates the rules, with the share in percent of one processor.
    package init(limit: Int, window: Duration) {
        self.limit = limit
        self.window = window
    }

    /// Records the processor time that the application has used since its start.
    package mutating func record(used: Duration, at now: Duration) -> Decision? {
        guard let begin = start else {
            start = (now, used)
            return nil
        }
        guard now >= begin.time + window, now > begin.time else { return nil }
        start = (now, used)
        // The time of processes that have ended is no longer counted.
        let percent = Int(max(.zero, used - begin.used) / (now - begin.time) * 100)
        defer { isSlowed = percent > limit }
        if percent > limit { return isSlowed ? .callIn(percent: percent) : .slowDown(percent: percent) }
        return isSlowed ? .restore : nil
    }

    /// Forgets what was used, as the application is suspended or in the foreground.
    package mutating func reset() {
        start = nil
        isSlowed = false
    }
}
