package import EideticCore

/// A parser for the dates of HTTP.
package enum HTTPDate {
    /// Parses a date in one of HTTP's three formats, or one that browsers read like them.
    ///
    /// The formats are `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37
    /// 1994`. As in browsers, the parts may be in any order and have any number of spaces, commas and dashes between
    /// them, and quotes around them; day and hour may have one digit, day name, zone and seconds may be missing, the
    /// zone may be `UTC`, `UT`, `Z` or a number such as `+0000`, and a date may be one of ISO 8601. A two-digit year
    /// that appears to be more than 50 years after `now` is in the past. Day names must be valid, but are not
    /// compared with the date. Letters may be of either case. A date outside the range of `Timestamp` becomes its
    /// last value.
    ///
    /// - Returns: The date, or `nil` if a part is missing, doubled or unknown, or the day or time does not exist.
    /// - SeeAlso: RFC 9110, section 5.6.7; RFC 6265, section 5.1.1, whose rules are the model.
    package static func parse(_ text: String, now: Timestamp = SystemTime().now) -> Timestamp? {
        guard let parts = HTTPDateParts(preferred: text) ?? HTTPDateParts(text), let day = parts.day,
            let month = parts.month, let time = parts.time, var year = parts.year
        else { return nil }
        if parts.isYearShort {
            let currentYear = calendarDate(daysSinceEpoch: Int(now.seconds.flooredQuotient(dividingBy: 86_400))).year
            year += currentYear / 100 * 100
            if year > currentYear + 50 { year -= 100 }
        }
        let days = daysSinceEpoch(year: year, month: month, day: day)
        guard day >= 1, calendarDate(daysSinceEpoch: days) == (year, month, day) else { return nil }
        let seconds = Int64(days * 86_400 + time - (parts.offset ?? 0))
        let limit = Int64.max / 1_000_000_000
        if seconds >= limit { return Timestamp(nanoseconds: .max) }
        return Timestamp(seconds: max(seconds, -limit))
    }

    /// Returns the days from 1970-01-01 to a day of the Gregorian calendar, with years from March in eras of 400.
    private static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted.flooredQuotient(dividingBy: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func calendarDate(daysSinceEpoch days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted.flooredQuotient(dividingBy: 146_097)
        let day = shifted - era * 146_097
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * year + year / 4 - year / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (year + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}

extension BinaryInteger {
    /// Returns the quotient rounded down, also for negative numbers.
    fileprivate func flooredQuotient(dividingBy divisor: Self) -> Self {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
