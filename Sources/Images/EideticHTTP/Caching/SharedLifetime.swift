package import EideticCore

/// The time for which other machines may use a response.
///
/// - SeeAlso: RFC 9111, sections 3 and 5.2.2.10.
package enum SharedLifetime {
    /// Returns the time from now; `nil` if other machines may not use the response, or for less than a second.
    package static func value(
        of response: ResponseFreshness.Response,
        redirects: [ResponseFreshness.Response] = [],
        exchanges: [ResponseFreshness.Response] = [],
        limit: Duration,
        at now: Timestamp
    ) -> Duration? {
        // Another status may be acceptable to one program only.
        guard (200..<300).contains(response.status),
            ([response] + redirects + exchanges).allSatisfy(\.isForSharedCaches)
        else { return nil }
        var lifetime = limit
        // A cache may ignore freshness for itself, and not for other machines.
        for response in [response] + redirects where response.statesLifetime {
            lifetime = min(lifetime, ResponseFreshness(response).remainder(at: now))
        }
        if let sharedMaxAge = CacheControl(response.fields).sharedMaxAge {
            lifetime = min(lifetime, .seconds(sharedMaxAge) - ResponseFreshness(response).currentAge(at: now))
        }
        return lifetime >= .seconds(1) ? lifetime : nil
    }
}

extension ResponseFreshness.Response {
    /// A Boolean value indicating whether the server says for how long the response is fresh.
    fileprivate var statesLifetime: Bool {
        CacheControl(fields).maxAge != nil || !fields.values(of: "expires").isEmpty
    }

    /// A Boolean value indicating whether caches that several users share may store the response.
    fileprivate var isForSharedCaches: Bool {
        let control = CacheControl(fields)
        let unsharedNames: Set = ["user-agent", "cookie", "authorization"]
        return !control.isPrivate && !control.noStore && !control.noCache && fields.values(of: "set-cookie").isEmpty
            && Vary(fields) != .everything && Vary(fields).names.isDisjoint(with: unsharedNames)
    }
}

extension ResponseFreshness {
    /// Returns the time for which the response is still fresh; zero if it must be validated each time.
    package func remainder(at now: Timestamp) -> Duration {
        requiresValidation ? .zero : max(.zero, freshnessLifetime - currentAge(at: now))
    }
}
