/// The time that the wakes of an application have taken in the last day.
package struct WakeQuota: Sendable, Hashable {
    /// The time that the wakes of one minute have taken.
    package struct Charge: Sendable, Hashable {
        package let minute: Int64
        package var seconds: Int64

        package init(minute: Int64, seconds: Int64) {
            self.minute = minute
            self.seconds = seconds
        }
    }

    /// The charges of the last day, the oldest one first; at most one a minute.
    package var charges: [Charge] = []

    package init() {}

    /// The least time that a wake takes of the quota, in seconds.
    package static let leastCharge: Int64 = 1

    /// Charges a wake that ended at a time.
    package mutating func charge(_ seconds: Int64, at steady: Int64) {
        let minute = steady.flooredDivision(by: .minute)
        let seconds = Swift.max(Self.leastCharge, seconds)
        charges.removeAll { $0.minute < minute - .day / .minute }
        if let last = charges.indices.last, charges[last].minute >= minute {
            charges[last].seconds += seconds
        } else {
            charges.append(Charge(minute: minute, seconds: seconds))
        }
    }

    /// The seconds that are left for wakes at a time.
    package func remaining(in bucket: StandbyBucket, at steady: Int64) -> Int64 {
        Swift.max(0, bucket.quota - used(in: bucket, at: steady))
    }

    private func used(in bucket: StandbyBucket, at steady: Int64) -> Int64 {
        let start = (steady - bucket.window).flooredDivision(by: .minute)
        return charges.reduce(0) { $1.minute > start ? $0 + $1.seconds : $0 }
    }

    /// The first time at which a wake is possible; the time itself if it is one.
    package func nextTime(in bucket: StandbyBucket, from steady: Int64) -> Int64 {
        var time = steady
        for charge in charges where !admits(in: bucket, at: time) {
            time = Swift.max(time, (charge.minute + 1) * .minute + bucket.window)
        }
        return time
    }

    /// Returns a Boolean value indicating whether the quota has room for a wake; the restricted bucket has one a day.
    ///
    /// - Parameters:
    ///   - bucket: The class of the application.
    ///   - steady: The time.
    ///   - reserved: The seconds that wakes may take that are under way.
    /// - Returns: `false` if a wake must wait.
    package func admits(in bucket: StandbyBucket, at steady: Int64, reserving reserved: Int64 = 0) -> Bool {
        let used = used(in: bucket, at: steady) + reserved
        return bucket == .restricted ? used == 0 : used < bucket.quota
    }
}
