import EideticSupervision

/// The reports that no task is open, of which there are no more than the supervisor reads.
///
/// Other messages have a quarter of what it reads.
package struct IdleReports {
    package var isDue = false
    private var bucket: MessageBucket

    package init(messageRate: UInt32, at now: Duration) {
        bucket = MessageBucket(rate: Int(messageRate) * 3 / 4, at: now)
    }

    /// Returns whether the report that waits may be sent now, which it then is.
    package mutating func take(at now: Duration) -> Bool {
        guard isDue, bucket.take(at: now) else { return false }
        isDue = false
        return true
    }

    /// The time at which the report that waits may be sent; `nil` if none does.
    package func nextTime(at now: Duration) -> Duration? { isDue ? now + bucket.delay : nil }
}
