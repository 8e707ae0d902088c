package import EideticCore

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
