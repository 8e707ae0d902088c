import Glibc

/// A moment by the two clocks of a schedule, in whole seconds.
package struct ScheduleTime: Sendable, Hashable {
    /// The time of a clock that never jumps, and that continues when the supervisor or the machine starts again.
    package var steady: Int64
    /// The time of day that the user sees, in seconds since 1970 without the offset from UTC; it may jump.
    package var local: Int64
    /// The offset of ``local`` from UTC in seconds.
    package var offset: Int64

    package init(steady: Int64, local: Int64, offset: Int64 = 0) {
        self.steady = steady
        self.local = local
        self.offset = offset
    }

    /// The time in seconds since 1970, UTC.
    package var universal: Int64 { local - offset }

    /// The moment that many seconds later, if no clock jumps.
    package func advanced(by seconds: Int64) -> ScheduleTime {
        ScheduleTime(steady: steady + seconds, local: local + seconds, offset: offset)
    }

    /// The steady time of a time of day, if no clock jumps.
    package func steady(ofLocal time: Int64) -> Int64 { steady + time - local }
}

extension Int64 {
    /// The number of seconds in a minute, the grid on which wakes are aligned.
    package static let minute: Int64 = 60
    package static let quarterHour: Int64 = 900
    package static let hour: Int64 = 3_600
    package static let day: Int64 = 86_400

    /// The first multiple of a minute that is not earlier, so that applications wake together.
    package var alignedToMinute: Int64 { (self + Self.minute - 1).flooredDivision(by: Self.minute) * Self.minute }

    /// The quotient rounded towards negative infinity.
    package func flooredDivision(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

/// The text of times in explanations.
package enum ScheduleText {
    /// Returns a time of day such as "2026-11-25 11:45".
    package static func date(ofLocal time: Int64) -> String {
        var date = tm()
        var seconds = time_t(time)
        gmtime_r(&seconds, &date)
        let day = "\(date.tm_year + 1_900)-\(two(date.tm_mon + 1))-\(two(date.tm_mday))"
        return "\(day) \(two(date.tm_hour)):\(two(date.tm_min))"
    }

    /// Returns a length of time such as "2 h 5 min", "40 s" or "3 d 4 h".
    package static func duration(_ seconds: Int64) -> String {
        let left = Swift.max(0, seconds)
        let units: [(Int64, String)] = [(.day, "d"), (.hour, "h"), (.minute, "min"), (1, "s")]
        guard let first = units.firstIndex(where: { $0.0 <= left }) else { return "0 s" }
        let whole = "\(left / units[first].0) \(units[first].1)"
        guard first + 1 < units.count, case let rest = left % units[first].0 / units[first + 1].0, rest > 0 else {
            return whole
        }
        return "\(whole) \(rest) \(units[first + 1].1)"
    }

    private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
