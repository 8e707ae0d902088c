/// The rate of progress reports: one an interval, of which the last one is never lost.
package struct WorkProgressThrottle: Sendable {
    /// A decision about a report.
    package enum Decision: Sendable, Hashable {
        case send
        /// It is sent after this time, unless a later one takes its place.
        case delay(Duration)
        case ignore
    }

    private let interval: Duration
    private var last: (progress: WorkProgress, time: Duration)?
    private var waiting: WorkProgress?
    private var isEnded = false

    package init(interval: Duration) { self.interval = interval }

    package mutating func record(_ progress: WorkProgress, at now: Duration) -> Decision {
        guard !isEnded else { return .ignore }
        if waiting != nil {
            waiting = progress
            return .ignore
        }
        guard let last else { return send(progress, at: now) }
        guard progress != last.progress else { return .ignore }
        guard now < last.time + interval else { return send(progress, at: now) }
        waiting = progress
        return .delay(last.time + interval - now)
    }

    private mutating func send(_ progress: WorkProgress, at now: Duration) -> Decision {
        last = (progress, now)
        return .send
    }

    /// Removes and returns the report that was delayed; `nil` if there is none.
    package mutating func takeDelayed(at now: Duration) -> WorkProgress? {
        guard let progress = waiting else { return nil }
        waiting = nil
        guard progress != last?.progress else { return nil }
        last = (progress, now)
        return progress
    }

    /// Ignores further reports, as the work has ended.
    package mutating func end() {
        waiting = nil
        isEnded = true
    }
}
