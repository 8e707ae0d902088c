package import EideticCore

/// The freshness of a stored response.
///
/// A pure value, for a private cache: `s-maxage` and `proxy-revalidate` are ignored, and `private` responses are
/// allowed.
/// - SeeAlso: RFC 9111, section 4.2; RFC 5861.
package struct ResponseFreshness: Sendable, Hashable {
    /// A response, with the times of its request and its arrival.
    package struct Response: Sendable, Hashable {
        /// The status code, such as 200.
        package var status: Int
        package var fields: [HTTPField]
        package var requestTime: Timestamp
        /// The time at which the header fields were received.
        package var responseTime: Timestamp

        package init(status: Int = 200, fields: [HTTPField], requestTime: Timestamp, responseTime: Timestamp) {
            self.status = status
            self.fields = fields
            self.requestTime = requestTime
            self.responseTime = responseTime
        }
    }

    /// A permitted reuse of a stored response.
    package enum Reuse: Sendable, Hashable {
        /// The response is fresh, and may be used without validation.
        case fresh
        /// The response is stale, and may be used while it is being validated.
        case staleWhileRevalidating
        /// The response must be validated before it is used.
        case afterValidation
    }

    package let control: CacheControl
    /// The freshness lifetime, counted from the generation of the response at its origin.
    package let freshnessLifetime: Duration
    /// The age of the response when it was received.
    package let correctedInitialAge: Duration
    /// A Boolean value indicating whether the response must be validated before each use: with `no-cache`, and with
    /// `Vary: *`, which matches no request.
    package let requiresValidation: Bool
    private let responseTime: Timestamp
    private let limit: Limit?

    /// The limit that redirects set to the use of the response that they led to.
    package struct Limit: Sendable, Hashable {
        /// The time after the response for which all redirects are fresh.
        package let lifetime: Duration
        /// A Boolean value indicating whether one of the redirects must not be used stale.
        package let mustRevalidate: Bool

        package init(lifetime: Duration, mustRevalidate: Bool) {
            self.lifetime = lifetime
            self.mustRevalidate = mustRevalidate
        }

        /// Computes the limit of the redirects that led to a response; `nil` without redirects.
        package init?(_ redirects: some Sequence<Response>, heuristic: FreshnessHeuristic, at time: Timestamp) {
            let freshness = redirects.map { ResponseFreshness($0, heuristic: heuristic) }
            let lifetimes = freshness.map { redirect in
                redirect.requiresValidation
                    ? .zero : max(.zero, redirect.freshnessLifetime - redirect.currentAge(at: time))
            }
            guard let lifetime = lifetimes.min() else { return nil }
            self.init(lifetime: lifetime, mustRevalidate: freshness.contains { $0.control.mustRevalidate })
        }
    }

    /// Computes the freshness of a response, which is that of the least fresh response on the way to it.
    package init(
        _ response: Response,
        heuristic: FreshnessHeuristic = FreshnessHeuristic(),
        limit: Limit? = nil
    ) {
        control = CacheControl(response.fields)
        requiresValidation = control.noCache || Vary(response.fields) == .everything
        let lifetime = Self.freshnessLifetime(of: response, control: control, heuristic: heuristic)
        let initialAge = Self.correctedInitialAge(of: response)
        correctedInitialAge = initialAge
        freshnessLifetime = limit.map { min(lifetime, initialAge + $0.lifetime) } ?? lifetime
        responseTime = response.responseTime
        self.limit = limit
    }

    /// A Boolean value indicating whether the response must not be used stale.
    private var mustRevalidate: Bool { control.mustRevalidate || limit?.mustRevalidate == true }

    /// Returns the current age of the response.
    ///
    /// A clock that was set back does not reduce it below the initial age.
    package func currentAge(at now: Timestamp) -> Duration { correctedInitialAge + max(.zero, now - responseTime) }

    /// Returns the time for which the response has been stale, or zero if it is fresh.
    package func staleness(at now: Timestamp) -> Duration { max(.zero, currentAge(at: now) - freshnessLifetime) }

    /// Returns `true` if the response is fresh, regardless of ``requiresValidation``.
    package func isFresh(at now: Timestamp) -> Bool { currentAge(at: now) < freshnessLifetime }

    /// The time at which the response becomes stale, if the clock is not set meanwhile.
    package var expirationTime: Timestamp { responseTime + (freshnessLifetime - correctedInitialAge) }

    /// Returns the permitted reuse of the response for a request with these fields.
    ///
    /// - SeeAlso: RFC 9111, sections 4 and 5.2.1; RFC 5861, section 3.
    package func reuse(at now: Timestamp, request: [HTTPField] = []) -> Reuse {
        let requestControl = CacheControl(request)
        if requiresValidation || requestControl.noCache { return .afterValidation }
        let age = currentAge(at: now)
        if let maximumAge = requestControl.maxAge, age > .seconds(maximumAge) { return .afterValidation }
        if age + .seconds(requestControl.minFresh ?? 0) < freshnessLifetime { return .fresh }
        if isFresh(at: now) || mustRevalidate || requestControl.minFresh != nil { return .afterValidation }
        let staleness = staleness(at: now)
        if let maximumStaleness = requestControl.maxStale, staleness <= .seconds(maximumStaleness) { return .fresh }
        // The directive of the last response is not about the redirects that led to it.
        if limit == nil, let window = control.staleWhileRevalidate, staleness < .seconds(window) {
            return .staleWhileRevalidating
        }
        return .afterValidation
    }

    /// Returns `true` if the response may be served because its validation failed: with a status of 500, 502, 503 or
    /// 504, or because the origin could not be reached.
    ///
    /// Without `stale-if-error` in the response or the request, a stale response may be served only if the origin could
    /// not be reached (`status` is `nil`) and `whenUnreachable` is `true`.
    /// - SeeAlso: RFC 5861, section 4; RFC 9111, section 4.2.4.
    package func allowsStaleAfterError(
        at now: Timestamp,
        status: Int?,
        request: [HTTPField] = [],
        whenUnreachable: Bool = true
    ) -> Bool {
        if requiresValidation || mustRevalidate || CacheControl(request).noCache { return false }
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
    private static func freshnessLifetime(of response: Response, control: CacheControl, heuristic: FreshnessHeuristic)
        -> Duration
    {
        if let lifetime = explicitLifetime(of: response, control: control) { return lifetime }
        let date = dateValue(of: response)
        guard control.isPublic || Storability.isHeuristicallyCacheable(response.status),
            let text = response.fields.values(of: "last-modified").first,
            let changed = HTTPDate.parse(text, now: response.responseTime), changed < date
        else { return .zero }
        return heuristic.lifetime(forAge: date - changed)
    }

    /// Returns the lifetime that the response states; `nil` if it states none.
    private static func explicitLifetime(of response: Response, control: CacheControl) -> Duration? {
        if let seconds = control.maxAge { return .seconds(seconds) }
        let expiries = Set(response.fields.values(of: "expires"))
        guard let text = expiries.first else { return nil }
        guard expiries.count == 1, let expires = HTTPDate.parse(text, now: response.responseTime) else { return .zero }
        if expires.nanoseconds == .max { return .seconds(CacheControl.maximumSeconds) }
        return max(.zero, expires - dateValue(of: response))
    }

    /// Returns the time for which a response that is not stored, such as an error, may still be remembered.
    ///
    /// - Returns: The time; zero if it must not be stored or used again; `nil` if the response does not limit it.
    package static func explicitRemainder(of response: Response, at now: Timestamp) -> Duration? {
        let freshness = ResponseFreshness(response)
        if freshness.requiresValidation || Storability.isForbidden(status: response.status, fields: response.fields) {
            return .zero
        }
        guard explicitLifetime(of: response, control: freshness.control) != nil else { return nil }
        return max(.zero, freshness.freshnessLifetime - freshness.currentAge(at: now))
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
