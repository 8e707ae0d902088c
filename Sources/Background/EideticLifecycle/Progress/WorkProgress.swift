/// The progress of work: completed units of a total.
package struct WorkProgress: Sendable, Hashable {
    package private(set) var completed: UInt64
    package private(set) var total: UInt64

    package init(completed: UInt64 = 0, total: UInt64 = 0) {
        self.completed = completed
        self.total = total
    }

    /// The share of the completed units, 0 to 100; 0 while the total is unknown.
    package var percent: Int { total == 0 ? 0 : Int(Double(min(completed, total)) / Double(total) * 100) }

    /// Records a report, and returns a Boolean value indicating whether it is progress: more units, or another total,
    /// with which the next part of the work begins.
    package mutating func record(_ report: WorkProgress) -> Bool {
        guard report.total == total else {
            self = report
            return true
        }
        defer { completed = max(completed, report.completed) }
        return report.completed > completed
    }
}
