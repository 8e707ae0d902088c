/// The least time between two background fetches that an application asks for.
package enum FetchInterval: Sendable, Hashable {
    /// No fetches; the initial value.
    case never
    /// As often as the schedule permits.
    case minimum
    case seconds(Int64)

    /// The shortest interval that is granted, in seconds.
    package static let least: Int64 = .quarterHour

    /// The granted interval in seconds; `nil` for ``never``.
    package var granted: Int64? {
        switch self {
        case .never: nil
        case .minimum: Self.least
        case .seconds(let seconds): Swift.min(Swift.max(Self.least, seconds), 365 * .day)
        }
    }
}
