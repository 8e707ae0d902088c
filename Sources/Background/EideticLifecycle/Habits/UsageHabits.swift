/// The quarter hours in which a user starts an application, learned apart for working days and weekends.
///
/// Each bin is a sum of days on which the application was started in it; a day counts nine tenths of the day after it.
package struct UsageHabits: Sendable, Hashable {
    package static let binCount = 96
    /// The weight of a day in relation to the day after it.
    static let dailyDecay = 0.9

    /// The bins of working days and of weekends.
    package var workingDays = [Double](repeating: 0, count: binCount)
    package var weekends = [Double](repeating: 0, count: binCount)
    /// The number of days that were observed, with the same weights as the bins.
    package var workingDayCount = 0.0
    package var weekendCount = 0.0
    /// The number of the last observed day since 1970; `nil` before the first one.
    package var lastDay: Int64?
    /// The bins that have counted on the last day.
    package var binsOfLastDay: Set<UInt8> = []
    /// The number of days since the first one.
    package var observedDayCount: Int64 = 0

    package init() {}

    package mutating func recordStart(atLocal time: Int64) {
        observe(untilLocal: time)
        let bin = Self.bin(ofLocal: time)
        guard binsOfLastDay.insert(UInt8(bin)).inserted else { return }
        if Self.isWeekend(ofLocal: time) { weekends[bin] += 1 } else { workingDays[bin] += 1 }
    }

    /// Records that the days up to this one were observed; a clock that was set back changes nothing.
    package mutating func observe(untilLocal time: Int64) {
        let day = time.flooredDivision(by: .day)
        guard let last = lastDay else {
            lastDay = day
            observedDayCount = 1
            return count(day)
        }
        guard day > last else { return }
        // After a year nothing of the earlier days is left.
        for next in Swift.max(last + 1, day - 365)...day {
            decay()
            count(next)
        }
        lastDay = day
        binsOfLastDay = []
        observedDayCount += day - last
    }

    private mutating func decay() {
        for bin in 0..<Self.binCount {
            workingDays[bin] *= Self.dailyDecay
            weekends[bin] *= Self.dailyDecay
        }
        workingDayCount *= Self.dailyDecay
        weekendCount *= Self.dailyDecay
    }

    private mutating func count(_ day: Int64) {
        if Self.isWeekend(day: day) { weekendCount += 1 } else { workingDayCount += 1 }
    }

    /// The probability that the application is started in the quarter hour of a time: 0 to 1.
    ///
    /// A kind of day that was never observed is taken for the other kind.
    package func probability(atLocal time: Int64) -> Double {
        let isWeekend = Self.isWeekend(ofLocal: time)
        let usesWeekend = isWeekend ? weekendCount > 0 : workingDayCount == 0
        let days = usesWeekend ? weekendCount : workingDayCount
        guard days > 0 else { return 0 }
        return Swift.min(1, (usesWeekend ? weekends : workingDays)[Self.bin(ofLocal: time)] / days)
    }

    /// The value of new content at a time: the probabilities of the four quarter hours after the one that begins,
    /// each of less weight than the one before.
    package func utility(atLocal time: Int64) -> Double {
        (1...4).reduce(0) { sum, step in
            let weight = 1 - Double(step - 1) / 4
            return sum + weight * probability(atLocal: time + Int64(step) * .quarterHour)
        }
    }

    static func bin(ofLocal time: Int64) -> Int {
        Int((time - time.flooredDivision(by: .day) * .day) / .quarterHour)
    }

    static func isWeekend(ofLocal time: Int64) -> Bool { isWeekend(day: time.flooredDivision(by: .day)) }

    /// The first of January 1970 was a Thursday.
    private static func isWeekend(day: Int64) -> Bool {
        let weekday = (day + 4) - (day + 4).flooredDivision(by: 7) * 7
        return weekday == 0 || weekday == 6
    }
}
