/// The suspensions of this process by supervisors, of which each is handled once.
///
/// The shared page counts them. A supervisor that ends continues the process without a report, which the next one may
/// send late.
struct SuspensionRecord {
    /// The number of suspensions whose notices were delivered.
    private(set) var handledCount: UInt64 = 0
    /// A Boolean value indicating whether the last suspension was handled without a report.
    private var isUnreported = false

    /// Records that the process runs; returns whether it was suspended and nobody has reported it.
    mutating func handleContinuation(count: UInt64) -> Bool {
        guard count != handledCount else { return false }
        handledCount = count
        isUnreported = true
        return true
    }

    /// Records a report; returns whether it concerns a suspension that was handled before.
    mutating func handleReport(count: UInt64) -> Bool {
        defer {
            handledCount = count
            isUnreported = false
        }
        return isUnreported && count == handledCount
    }

    /// Continues with the count of another page.
    mutating func replaceCount(by count: UInt64) { handledCount = count }
}
