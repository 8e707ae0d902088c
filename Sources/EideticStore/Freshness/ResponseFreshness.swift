public import EideticCore

/// How long a stored response may be used, and what for after that.
///
/// Made from what was stored: pure, so that every rule can be tested. For a cache of one user (`s-maxage` and
/// `proxy-revalidate` do not count, `private` does no harm).
/// - SeeAlso: RFC 9111, section 4.2; RFC 5861.
public struct ResponseFreshness: Sendable, Hashable {
    /// How long responses live that do not say it themselves.
    public struct Heuristic: Sendable, Hashable {
        /// The part of the time since the last change; 0.1 by default, as the standard suggests.
        public var fraction = 0.1
        /// The longest such life; 1 day by default.
        public var longest = Duration.seconds(86_400)

        /// Creates the default.
        public init() {}

        /// No such life: what does not say how long it lives is stale at once.
        public static let none: Heuristic = {
            var heuristic = Heuristic()
            heuristic.longest = .zero
            return heuristic
        }()
    }

    /// A response, with the times at which it was asked for and came.
    public struct Response: Sendable, Hashable {
        /// The status, such as 200.
        public var status: Int
        /// The fields of its head.
        public var fields: [HTTPField]
        /// When it was asked for.
        public var requested: Timestamp
        /// When its head came.
        public var received: Timestamp

        /// Creates a response.
        public init(status: Int = 200, fields: [HTTPField], requested: Timestamp, received: Timestamp) {
            self.status = status
            self.fields = fields
            self.requested = requested
            self.received = received
        }
    }

    /// What may be done with a stored response.
    public enum Use: Sendable, Hashable {
        /// It is fresh: use it.
        case fresh
        /// It is stale: use it, and validate it at the same time.
        case staleWhileRevalidating
        /// It must be validated before it is used.
        case afterValidation
    }

    /// The directives of the response.
    public let control: CacheControl
    /// How long it is fresh, from when the origin made it.
    public let lifetime: Duration
    /// How old it was when it came.
    public let initialAge: Duration
    private let received: Timestamp

    /// Works out how long a response lives.
    public init(_ response: Response, heuristic: Heuristic = Heuristic()) {
        control = CacheControl(response.fields)
        lifetime = Self.lifetime(of: response, control, heuristic)
        initialAge = Self.initialAge(of: response)
        received = response.received
    }

    /// How old the response is now; a clock that was set back makes it no younger than it came.
    public func age(at now: Timestamp) -> Duration { initialAge + max(.zero, now - received) }

    /// How long the response has been stale; zero while it is fresh.
    public func staleness(at now: Timestamp) -> Duration { max(.zero, age(at: now) - lifetime) }

    /// Whether it is fresh; `no-cache` is something else.
    public func isFresh(at now: Timestamp) -> Bool { age(at: now) < lifetime }

    /// When it becomes stale, as far as the clock is not set.
    public var staleFrom: Timestamp { received + (lifetime - initialAge) }

    /// What may be done with the response now, for a request with these fields.
    ///
    /// - SeeAlso: RFC 9111, sections 4 and 5.2.1; RFC 5861, section 3.
    public func use(at now: Timestamp, request: [HTTPField] = []) -> Use {
        let wanted = CacheControl(request)
        if control.noCache || wanted.noCache { return .afterValidation }
        let age = age(at: now)
        if let most = wanted.maxAge, age > .seconds(most) { return .afterValidation }
        if age + .seconds(wanted.minFresh ?? 0) < lifetime { return .fresh }
        if isFresh(at: now) || control.mustRevalidate || wanted.minFresh != nil { return .afterValidation }
        let staleness = staleness(at: now)
        if let accepted = wanted.maxStale, staleness <= .seconds(accepted) { return .fresh }
        if let window = control.staleWhileRevalidate, staleness < .seconds(window) { return .staleWhileRevalidating }
        return .afterValidation
    }

    /// Whether the response may be used because validating it failed: with a status of 500, 502, 503 or 504, or
    /// because the origin could not be reached.
    ///
    /// Without `stale-if-error`, in the response or the request, only `whenUnreachable` decides, and only where the
    /// origin could not be reached (`status` is `nil`).
    /// - SeeAlso: RFC 5861, section 4; RFC 9111, section 4.2.4.
    public func mayServeAfterError(
        at now: Timestamp,
        status: Int?,
        request: [HTTPField] = [],
        whenUnreachable: Bool = true
    ) -> Bool {
        if control.noCache || control.mustRevalidate || CacheControl(request).noCache { return false }
        if let status, ![500, 502, 503, 504].contains(status) { return false }
        let windows = [control.staleIfError, CacheControl(request).staleIfError].compactMap { $0 }
        if let window = windows.max() { return staleness(at: now) < .seconds(window) || isFresh(at: now) }
        return isFresh(at: now) || (status == nil && whenUnreachable)
    }
}

// MARK: Times
extension ResponseFreshness {
    /// - SeeAlso: RFC 9111, section 4.2.1.
    private static func lifetime(of response: Response, _ control: CacheControl, _ heuristic: Heuristic) -> Duration {
        if let seconds = control.maxAge { return .seconds(seconds) }
        let date = date(of: response)
        let expiries = Set(response.fields.values(of: "expires"))
        if let text = expiries.first {
            guard expiries.count == 1, let expires = HTTPDate.parse(text, now: response.received) else { return .zero }
            return max(.zero, expires.nanoseconds == .max ? .seconds(CacheControl.most) : expires - date)
        }
        guard control.isPublic || Storability.isHeuristicallyCacheable(response.status),
            let text = response.fields.values(of: "last-modified").first,
            let changed = HTTPDate.parse(text, now: response.received), changed < date
        else { return .zero }
        return min(heuristic.longest, .nanoseconds(Int64((date - changed).inSeconds * heuristic.fraction * 1e9)))
    }

    /// - SeeAlso: RFC 9111, section 4.2.3.
    private static func initialAge(of response: Response) -> Duration {
        let apparent = max(.zero, response.received - date(of: response))
        let text = response.fields.values(of: "age").first?.httpList.first
        let seconds = min(CacheControl.most, text?.httpNumber ?? 0)
        let delay = max(.zero, response.received - response.requested)
        return max(apparent, .seconds(seconds) + delay)
    }

    /// When the origin made the response; when it came, where it does not say.
    ///
    /// - SeeAlso: RFC 9110, section 6.6.1.
    private static func date(of response: Response) -> Timestamp {
        let text = response.fields.values(of: "date").first
        return text.flatMap { HTTPDate.parse($0, now: response.received) } ?? response.received
    }
}
