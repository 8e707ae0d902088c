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
        public var maximumLifetime = Duration.seconds(86_400)

        /// Creates the default.
        public init() {}

        /// No such life: what does not say how long it lives is stale at once.
        public static let none: Heuristic = {
            var heuristic = Heuristic()
            heuristic.maximumLifetime = .zero
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
        public var requestTime: Timestamp
        /// When its head came.
        public var responseTime: Timestamp

        /// Creates a response.
        public init(status: Int = 200, fields: [HTTPField], requestTime: Timestamp, responseTime: Timestamp) {
            self.status = status
            self.fields = fields
            self.requestTime = requestTime
            self.responseTime = responseTime
        }
    }

    /// What may be done with a stored response.
    public enum Reuse: Sendable, Hashable {
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
    public let freshnessLifetime: Duration
    /// How old it was when it came.
    public let correctedInitialAge: Duration
    private let responseTime: Timestamp

    /// Works out how long a response lives.
    public init(_ response: Response, heuristic: Heuristic = Heuristic()) {
        control = CacheControl(response.fields)
        freshnessLifetime = Self.freshnessLifetime(of: response, control: control, heuristic: heuristic)
        correctedInitialAge = Self.correctedInitialAge(of: response)
        responseTime = response.responseTime
    }

    /// How old the response is now; a clock that was set back makes it no younger than it came.
    public func currentAge(at now: Timestamp) -> Duration { correctedInitialAge + max(.zero, now - responseTime) }

    /// How long the response has been stale; zero while it is fresh.
    public func staleness(at now: Timestamp) -> Duration { max(.zero, currentAge(at: now) - freshnessLifetime) }

    /// Whether it is fresh; `no-cache` is something else.
    public func isFresh(at now: Timestamp) -> Bool { currentAge(at: now) < freshnessLifetime }

    /// When it becomes stale, as far as the clock is not set.
    public var expirationTime: Timestamp { responseTime + (freshnessLifetime - correctedInitialAge) }

    /// What may be done with the response now, for a request with these fields.
    ///
    /// - SeeAlso: RFC 9111, sections 4 and 5.2.1; RFC 5861, section 3.
    public func reuse(at now: Timestamp, request: [HTTPField] = []) -> Reuse {
        let requestControl = CacheControl(request)
        if control.noCache || requestControl.noCache { return .afterValidation }
        let age = currentAge(at: now)
        if let maximumAge = requestControl.maxAge, age > .seconds(maximumAge) { return .afterValidation }
        if age + .seconds(requestControl.minFresh ?? 0) < freshnessLifetime { return .fresh }
        if isFresh(at: now) || control.mustRevalidate || requestControl.minFresh != nil { return .afterValidation }
        let staleness = staleness(at: now)
        if let maximumStaleness = requestControl.maxStale, staleness <= .seconds(maximumStaleness) { return .fresh }
        if let window = control.staleWhileRevalidate, staleness < .seconds(window) { return .staleWhileRevalidating }
        return .afterValidation
    }

    /// Whether the response may be used because validating it failed: with a status of 500, 502, 503 or 504, or
    /// because the origin could not be reached.
    ///
    /// Without `stale-if-error`, in the response or the request, only `whenUnreachable` decides, and only where the
    /// origin could not be reached (`status` is `nil`).
    /// - SeeAlso: RFC 5861, section 4; RFC 9111, section 4.2.4.
    public func allowsStaleAfterError(
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
    private static func freshnessLifetime(of response: Response, control: CacheControl, heuristic: Heuristic)
        -> Duration
    {
        if let seconds = control.maxAge { return .seconds(seconds) }
        let date = dateValue(of: response)
        let expiries = Set(response.fields.values(of: "expires"))
        if let text = expiries.first {
            guard expiries.count == 1, let expires = HTTPDate.parse(text, now: response.responseTime) else {
                return .zero
            }
            return max(.zero, expires.nanoseconds == .max ? .seconds(CacheControl.maximumSeconds) : expires - date)
        }
        guard control.isPublic || Storability.isHeuristicallyCacheable(response.status),
            let text = response.fields.values(of: "last-modified").first,
            let changed = HTTPDate.parse(text, now: response.responseTime), changed < date
        else { return .zero }
        return min(
            heuristic.maximumLifetime,
            .nanoseconds(Int64((date - changed).inSeconds * heuristic.fraction * 1e9))
        )
    }

    /// - SeeAlso: RFC 9111, section 4.2.3.
    private static func correctedInitialAge(of response: Response) -> Duration {
        let apparentAge = max(.zero, response.responseTime - dateValue(of: response))
        let text = response.fields.values(of: "age").first?.httpListMembers.first
        let seconds = min(CacheControl.maximumSeconds, text?.httpInteger ?? 0)
        let responseDelay = max(.zero, response.responseTime - response.requestTime)
        return max(apparentAge, .seconds(seconds) + responseDelay)
    }

    /// When the origin made the response; when it came, where it does not say.
    ///
    /// - SeeAlso: RFC 9110, section 6.6.1.
    private static func dateValue(of response: Response) -> Timestamp {
        let text = response.fields.values(of: "date").first
        return text.flatMap { HTTPDate.parse($0, now: response.responseTime) } ?? response.responseTime
    }
}
