package import EideticCore
import Glibc

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
            var current = tm()
            var seconds = time_t(now.seconds)
            gmtime_r(&seconds, &current)
            let currentYear = Int(current.tm_year) + 1_900
            year += currentYear / 100 * 100
            if year > currentYear + 50 { year -= 100 }
        }
        var date = tm()
        date.tm_year = Int32(year - 1_900)
        date.tm_mon = Int32(month - 1)
        date.tm_mday = Int32(day)
        // In whole days: with some zone files of the process, C counts leap seconds.
        let midnight = Int((Double(timegm(&date)) / 86_400).rounded()) * 86_400
        // A day that does not exist has become another one.
        guard date.tm_mday == day, date.tm_mon == month - 1 else { return nil }
        let seconds = Int64(midnight + time - (parts.offset ?? 0))
        let limit = Int64.max / 1_000_000_000
        if seconds >= limit { return Timestamp(nanoseconds: .max) }
        return Timestamp(seconds: max(seconds, -limit))
    }
}

/// The delay before another attempt that a server requests.
///
/// - SeeAlso: RFC 9110, section 10.2.3.
package enum RetryAfter {
    /// The statuses whose field is about the same request: Too Many Requests and Service Unavailable.
    private static let statuses = [429, 503]

    /// Returns the delay in a response's `Retry-After` field, which is in seconds or a date.
    ///
    /// - Returns: The delay; `nil` for any other status and for an invalid field.
    package static func delay(status: Int, fields: [HTTPField], now: Timestamp) -> Duration? {
        guard statuses.contains(status), let text = fields.values(of: "retry-after").first else { return nil }
        if let seconds = text.httpInteger { return .seconds(min(seconds, 1 << 32)) }
        return HTTPDate.parse(text, now: now).map { max(.zero, $0 - now) }
    }
}
