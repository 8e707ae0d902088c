public import EideticCore

/// The freshness of a stored response.
///
/// A pure value, for a private cache: `s-maxage` and `proxy-revalidate` are ignored, and `private` responses are
/// allowed.
/// - SeeAlso: RFC 9111, section 4.2; RFC 5861.
public struct ResponseFreshness: Sendable, Hashable {
    /// The heuristic freshness of responses without an explicit lifetime.
    public struct Heuristic: Sendable, Hashable {
        /// The fraction of the time since the last modification; 0.1 by default, as RFC 9111 suggests.
        public var fraction = 0.1
        /// The longest heuristic lifetime; 1 day by default.
        public var maximumLifetime = Duration.seconds(86_400)

        /// Returns the lifetime of a response that was last modified so long before it was sent.
        func lifetime(forAge age: Duration) -> Duration {
            let seconds = max(0, age.inSeconds * fraction)
            // Not a number is not below the limit either.
            return seconds < maximumLifetime.inSeconds ? .seconds(seconds) : maximumLifetime
        }

        /// Creates the default heuristic.
        public init() {}

        /// A heuristic that makes responses without an explicit lifetime stale at once.
        public static let none: Heuristic = {
            var heuristic = Heuristic()
            heuristic.maximumLifetime = .zero
            return heuristic
        }()
    }

    /// A response, with the times of its request and its arrival.
    public struct Response: Sendable, Hashable {
        /// The status code, such as 200.
        public var status: Int
        /// The header fields.
        public var fields: [HTTPField]
        /// The time of the request.
        public var requestTime: Timestamp
        /// The time at which the header fields were received.
        public var responseTime: Timestamp

        /// Creates a response.
        public init(status: Int = 200, fields: [HTTPField], requestTime: Timestamp, responseTime: Timestamp) {
            self.status = status
            self.fields = fields
            self.requestTime = requestTime
            self.responseTime = responseTime
        }
    }

    /// A permitted reuse of a stored response.
    public enum Reuse: Sendable, Hashable {
        /// The response is fresh, and may be used without validation.
        case fresh
        /// The response is stale, and may be used while it is being validated.
        case staleWhileRevalidating
        /// The response must be validated before it is used.
        case afterValidation
    }

    /// The cache directives of the response.
    public let control: CacheControl
    /// The freshness lifetime, counted from the generation of the response at its origin.
    public let freshnessLifetime: Duration
    /// The age of the response when it was received.
    public let correctedInitialAge: Duration
    private let responseTime: Timestamp

    /// Computes the freshness of a response.
    public init(_ response: Response, heuristic: Heuristic = Heuristic()) {
        control = CacheControl(response.fields)
        freshnessLifetime = Self.freshnessLifetime(of: response, control: control, heuristic: heuristic)
        correctedInitialAge = Self.correctedInitialAge(of: response)
        responseTime = response.responseTime
    }

    /// Returns the current age of the response.
    ///
    /// A clock that was set back does not reduce it below the initial age.
    public func currentAge(at now: Timestamp) -> Duration { correctedInitialAge + max(.zero, now - responseTime) }

    /// Returns the time for which the response has been stale, or zero if it is fresh.
    public func staleness(at now: Timestamp) -> Duration { max(.zero, currentAge(at: now) - freshnessLifetime) }

    /// Returns `true` if the response is fresh, regardless of `no-cache`.
    public func isFresh(at now: Timestamp) -> Bool { currentAge(at: now) < freshnessLifetime }

    /// The time at which the response becomes stale, if the clock is not set meanwhile.
    public var expirationTime: Timestamp { responseTime + (freshnessLifetime - correctedInitialAge) }

    /// Returns the permitted reuse of the response for a request with these fields.
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

    /// Returns `true` if the response may be served because its validation failed: with a status of 500, 502, 503 or
    /// 504, or because the origin could not be reached.
    ///
    /// Without `stale-if-error` in the response or the request, a stale response may be served only if the origin could
    /// not be reached (`status` is `nil`) and `whenUnreachable` is `true`.
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

// MARK: Age and lifetime
extension ResponseFreshness {
    /// Computes the freshness lifetime.
    ///
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
        return heuristic.lifetime(forAge: date - changed)
    }

    /// Computes the age at the time of receipt.
    ///
    /// - SeeAlso: RFC 9111, section 4.2.3.
    private static func correctedInitialAge(of response: Response) -> Duration {
        let apparentAge = max(.zero, response.responseTime - dateValue(of: response))
        let text = response.fields.values(of: "age").first?.httpListMembers.first
        let seconds = min(CacheControl.maximumSeconds, text?.httpInteger ?? 0)
        let responseDelay = max(.zero, response.responseTime - response.requestTime)
        return max(apparentAge, .seconds(seconds) + responseDelay)
    }

    /// Returns the value of the `Date` field, or the response time if that is missing or invalid.
    ///
    /// - SeeAlso: RFC 9110, section 6.6.1.
    private static func dateValue(of response: Response) -> Timestamp {
        let text = response.fields.values(of: "date").first
        return text.flatMap { HTTPDate.parse($0, now: response.responseTime) } ?? response.responseTime
    }
}
