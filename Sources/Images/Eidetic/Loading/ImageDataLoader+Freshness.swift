import EideticCore
import EideticFetch
import EideticHTTP
import EideticStore

/// HTTP freshness of responses and disk entries; without it an entry is used until its maximum age.
extension ImageDataLoader {
    /// The current time of the downloader's clock.
    var now: Timestamp { source.downloader.configuration.time.now }

    /// A Boolean value indicating whether servers determine how long images are used.
    var usesHTTPFreshness: Bool { freshnessPolicy != .maximumAge }

    /// Returns the time for which an entry is still fresh, and not expired; `nil` without a limit.
    func timeToLive(of metadata: DiskCache.Metadata) -> Duration? {
        let record = ResponseRecord(metadata), lifetime = disk?.timeToLive(of: metadata)
        guard let freshness = freshness(of: record.response(metadata), limit: record.limit) else { return lifetime }
        return record.dependsOnHooks ? .zero : min(remainder(of: freshness), lifetime ?? .infinite)
    }

    /// Returns the time for which a response is still fresh.
    func remainder(of freshness: ResponseFreshness) -> Duration {
        guard !freshness.control.noCache else { return .zero }
        return max(.zero, freshness.freshnessLifetime - freshness.currentAge(at: now))
    }

    /// Returns the freshness of an entry; `nil` if the pipeline ignores what the server says of it.
    func freshness(of stored: StoredEntry) -> ResponseFreshness? {
        freshness(of: stored.record.response(stored.entry.metadata), limit: stored.record.limit)
    }

    func freshness(of response: ResponseFreshness.Response, limit: ResponseFreshness.Limit?) -> ResponseFreshness? {
        freshnessPolicy == .http ? ResponseFreshness(response, heuristic: FreshnessHeuristic(), limit: limit) : nil
    }

    /// Returns whether a stale entry may be used although its revalidation failed.
    func allowsStale(_ stored: StoredEntry, after error: EideticError, for load: Load) -> Bool {
        guard error.code != .cancelled, !stored.isExpired, let freshness = freshness(of: stored) else { return false }
        return freshness.allowsStaleAfterError(at: now, status: error.httpStatus, request: load.policy.cacheFields)
    }

    /// Returns whether an entry is fresh and will not change (RFC 8246), so that not even a reload validates it.
    func isImmutable(_ stored: StoredEntry) -> Bool {
        let response = stored.record.response(stored.entry.metadata)
        let freshness = ResponseFreshness(response, heuristic: .none, limit: stored.record.limit)
        return !stored.isExpired && freshness.control.isImmutable && freshness.reuse(at: now) == .fresh
    }
}

// MARK: Responses
extension ImageDataLoader {
    /// A decision about what is kept of a response.
    struct Retention: Sendable {
        /// The place of an entry.
        enum Place: Sendable {
            /// Nothing is stored.
            case none
            /// Under the URL of the request.
            case resource
            /// Under the URL that redirects led to, because one of them must not be stored.
            case target(FetchRequest)
        }

        var place: Place
        /// A Boolean value indicating whether a response that is not stored removes an earlier entry all the same.
        ///
        /// It does so unless the caller, and not the server, forbids to store it.
        var removesEntry = true
        var metadata: DiskCache.Metadata
        var record = ResponseRecord()
        /// The selecting fields of the request as text; empty if there are none.
        var selection = ""
        /// The time for which memory may have the image; `nil` without a limit.
        var timeToLive: Duration?
    }

    /// Returns what may be kept of a response.
    ///
    /// - Parameters:
    ///   - response: The last response, with the fields to be stored.
    ///   - redirects: The redirects that led to it.
    ///   - origin: The exchanges; `nil` for bytes that came from no server.
    ///   - load: The load.
    /// - Returns: The decision.
    func retention(
        of response: ResponseFreshness.Response,
        redirects: [ResponseFreshness.Response],
        origin: ResponseOrigin?,
        for load: Load
    ) -> Retention {
        var retention = Retention(place: .resource, metadata: DiskCache.Metadata(headers: response.fields))
        // Memory keeps no image longer than the disk would.
        if load.request.resource.isStoredOnDisk { retention.timeToLive = disk?.configuration.maximumAge }
        guard let origin else { return retention }
        retention.record.status = response.status
        (retention.record.requestTime, retention.record.responseTime) = (response.requestTime, response.responseTime)
        retention.place = place(of: response, redirects: redirects, target: origin.target, for: load)
        retention.removesEntry = !CacheControl(load.policy.cacheFields).noStore
        guard freshnessPolicy == .http else { return retention }
        let heuristic = FreshnessHeuristic()
        if case .resource = retention.place {
            let time = response.responseTime
            let limit = ResponseFreshness.Limit(redirects, heuristic: heuristic, at: time)
            retention.record.redirectLifetime = limit?.lifetime
            retention.record.mustRevalidateRedirects = limit?.mustRevalidate ?? false
        }
        select(origin.request, for: load, in: &retention)
        let freshness = ResponseFreshness(response, heuristic: heuristic, limit: retention.record.limit)
        let isForOthers = if case .resource = retention.place { !retention.record.dependsOnHooks } else { false }
        retention.timeToLive = isForOthers ? min(remainder(of: freshness), retention.timeToLive ?? .infinite) : .zero
        return retention
    }

    /// Returns the place where a response may be stored.
    private func place(
        of response: ResponseFreshness.Response,
        redirects: [ResponseFreshness.Response],
        target: FetchRequest?,
        for load: Load
    ) -> Retention.Place {
        guard allowsStorage(of: response, for: load) else { return .none }
        let names = Vary(response.fields).names
        let isStorable = redirects.allSatisfy { redirect in
            allowsStorage(of: redirect, for: load) && Vary(redirect.fields).names.isSubset(of: names)
        }
        if isStorable { return .resource }
        return usesHTTPFreshness ? target.map { .target($0) } ?? .none : .none
    }

    /// Returns whether a response may be stored.
    ///
    /// The cookies of the jar are no part of a request's identity, and may be another user's at the next load.
    private func allowsStorage(of response: ResponseFreshness.Response, for load: Load) -> Bool {
        if load.request.usesCookies, Vary(response.fields).names.contains("cookie") { return false }
        let fields = load.policy.cacheFields
        // An image with another status than those of success and of redirects is stored by the same rules.
        if usesHTTPFreshness || !(200..<400).contains(response.status) {
            return Storability.isStorable(status: response.status, fields: response.fields, request: fields)
        }
        return Storability.isPermitted(status: response.status, fields: response.fields, request: fields)
    }

    /// Records the fields of the request that selected the response.
    private func select(_ sent: FetchRequest, for load: Load, in retention: inout Retention) {
        let vary = Vary(retention.metadata.headers), downloader = source.downloader
        guard !vary.names.isEmpty else { return }
        if case .target(let target) = retention.place {
            retention.selection = vary.selection(from: downloader.selectingFields(ofSent: target)) ?? ""
            return
        }
        retention.selection = vary.selection(from: downloader.selectingFields(ofSent: sent)) ?? ""
        guard downloader.changesFields, let plain = load.server else { return }
        let usual = vary.selection(from: downloader.selectingFields(ofSent: plain))
        let hasOtherUsers = downloader.configuration.credentials != nil && vary.names.contains("authorization")
        retention.record.dependsOnHooks = hasOtherUsers || usual != retention.selection
    }
}

extension Duration {
    /// A duration that is longer than any other.
    fileprivate static var infinite: Duration { .nanoseconds(Int64.max) }
}
