package import EideticCore

/// A parser for the dates of HTTP.
package enum HTTPDate {
    private static let months = [
        "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10,
        "nov": 11, "dec": 12,
    ]
    private static let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    private static let longDays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    /// Parses a date in one of HTTP's three formats.
    ///
    /// The formats are `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37
    /// 1994`. A two-digit year that appears to be more than 50 years after `now` is in the past. Day names must be
    /// valid, but are not compared with the date. Letters may be of either case, as a cache should accept them.
    /// Anything else, such as a doubled space, makes a date invalid. A date outside the range of `Timestamp` becomes
    /// its last value.
    ///
    /// - Returns: The date, or `nil` if the text is in none of the formats, or its day or time does not exist.
    /// - SeeAlso: RFC 9110, section 5.6.7.
    package static func parse(_ text: String, now: Timestamp = SystemTime().now) -> Timestamp? {
        let parts = text.lowercasedASCII.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        switch parts.count {
        case 6 where parts[2].isEmpty: return parseAsctimeDate(parts)
        case 6: return parseIMFFixdate(parts)
        case 5: return parseAsctimeDate(parts)
        case 4: return parseRFC850Date(parts, now: now)
        default: return nil
        }
    }

    /// Parses an IMF-fixdate: `sun, 06 nov 1994 08:49:37 gmt`.
    private static func parseIMFFixdate(_ parts: [String]) -> Timestamp? {
        guard isDay(parts[0], of: days), parts[5] == "gmt", parts[1].utf8.count == 2,
            parts[3].utf8.count == 4, let day = parts[1].httpInteger, let month = months[parts[2]],
            let year = parts[3].httpInteger
        else { return nil }
        return timestamp(year: year, month: month, day: day, time: parts[4])
    }

    /// Parses the obsolete format of RFC 850: `sunday, 06-nov-94 08:49:37 gmt`.
    private static func parseRFC850Date(_ parts: [String], now: Timestamp) -> Timestamp? {
        let date = parts[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard isDay(parts[0], of: longDays), parts[3] == "gmt", date.count == 3,
            date[0].utf8.count == 2, date[2].utf8.count == 2, let day = date[0].httpInteger,
            let month = months[date[1]], let twoDigitYear = date[2].httpInteger
        else { return nil }
        let currentYear = calendarDate(daysSinceEpoch: Int(now.seconds.flooredQuotient(dividingBy: 86_400))).year
        var year = currentYear / 100 * 100 + twoDigitYear
        if year > currentYear + 50 { year -= 100 }
        return timestamp(year: year, month: month, day: day, time: parts[2])
    }

    /// Parses the obsolete format of `asctime`: `sun nov  6 08:49:37 1994`.
    ///
    /// A day below ten has a space in place of its first digit.
    private static func parseAsctimeDate(_ parts: [String]) -> Timestamp? {
        let dayPart = parts[parts.count - 3], dayDigits = parts.count == 6 ? 1 : 2
        guard days.contains(parts[0]), let month = months[parts[1]], dayPart.utf8.count == dayDigits,
            let day = dayPart.httpInteger, parts[parts.count - 1].utf8.count == 4,
            let year = parts[parts.count - 1].httpInteger
        else { return nil }
        return timestamp(year: year, month: month, day: day, time: parts[parts.count - 2])
    }

    private static func isDay(_ text: String, of names: [String]) -> Bool {
        text.hasSuffix(",") && names.contains(String(text.dropLast()))
    }

    private static func timestamp(year: Int, month: Int, day: Int, time: String) -> Timestamp? {
        let parts = time.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts.allSatisfy({ $0.utf8.count == 2 }) else { return nil }
        let numbers = parts.compactMap(\.httpInteger)
        // 60 is a leap second.
        guard numbers.count == 3, numbers[0] < 24, numbers[1] < 60, numbers[2] <= 60 else { return nil }
        let days = daysSinceEpoch(year: year, month: month, day: day)
        guard day >= 1, calendarDate(daysSinceEpoch: days) == (year, month, day) else { return nil }
        let seconds = Int64(days * 86_400 + numbers[0] * 3_600 + numbers[1] * 60 + numbers[2])
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
