import EideticFetch
import EideticStore

/// A decision about what is kept of a response.
struct Retention: Sendable {
    var place = StoragePlace.resource
    /// The last target of redirects, as a request of its own; `nil` without redirects.
    var target: FetchRequest?
    /// A Boolean value indicating whether a response that is not stored removes an earlier entry all the same.
    ///
    /// It does so unless the caller, and not the server, forbids to store it.
    var removesEntry = true
    var metadata: DiskCache.Metadata
    var record: ResponseRecord {
        get { metadata.response }
        set { metadata.response = newValue }
    }
    /// The selecting fields of the request as text; empty if there are none.
    var selection = ""
    /// The time for which memory may have the image; `nil` without a limit.
    var timeToLive: Duration?

    /// A Boolean value indicating whether other loads may use the bytes before they are on disk.
    ///
    /// Bytes that are neither storable nor fresh are for the callers of this job alone, as are those that hooks
    /// selected.
    var isForOthers: Bool { place == .resource && !record.dependsOnHooks || timeToLive != .zero }
}

extension Retention {
    /// Decides what may be kept of a response.
    init(
        of response: ResponseFreshness.Response,
        redirects: [ResponseFreshness.Response],
        origin: ResponseOrigin?,
        for load: Load,
        on disk: DiskStage
    ) {
        let (rules, downloader) = (disk.rules, disk.downloader)
        self.init(metadata: DiskCache.Metadata(headers: response.fields))
        metadata.expirationTime = load.request.cachePolicy.expirationTime(at: rules.now)
        // Memory keeps no image longer than the disk would.
        timeToLive = load.request.cachePolicy.timeToLive
        if load.request.resource.isStoredOnDisk { timeToLive = timeToLive ?? rules.disk?.configuration.maximumAge }
        guard let origin else { return }
        record.status = response.status
        record.requestTime = response.requestTime
        record.responseTime = response.responseTime
        let fields = load.policy.cacheFields
        let usesCookies = load.request.usesCookies
        let storage = StorageRules(usesFreshness: rules.isHTTP, usesCookies: usesCookies, requestFields: fields)
        target = origin.target
        place = storage.place(of: response, redirects: redirects)
        if place == .target, target == nil { place = .none }
        removesEntry = !CacheControl(fields).noStore
        guard rules.isHTTP else { return }
        let heuristic = FreshnessHeuristic()
        if place == .resource {
            let limit = ResponseFreshness.Limit(redirects, heuristic: heuristic, at: response.responseTime)
            record.redirectLifetime = limit?.lifetime
            record.mustRevalidateRedirects = limit?.mustRevalidate ?? false
        }
        select(origin.request, for: load, by: downloader)
        let remainder = ResponseFreshness(response, heuristic: heuristic, limit: record.limit).remainder(at: rules.now)
        let isForOthers = place == .resource && !record.dependsOnHooks
        timeToLive = isForOthers ? timeToLive.map { min($0, remainder) } ?? remainder : .zero
    }

    /// Records the fields of the request that selected the response.
    private mutating func select(_ sent: FetchRequest, for load: Load, by downloader: Downloader) {
        let vary = Vary(metadata.headers)
        guard !vary.names.isEmpty else { return }
        if place == .target, let target {
            selection = vary.selection(from: downloader.fields.selectingFields(ofSent: target)) ?? ""
            return
        }
        selection = vary.selection(from: downloader.fields.selectingFields(ofSent: sent)) ?? ""
        guard downloader.changesFields, let plain = load.server else { return }
        let usual = vary.selection(from: downloader.fields.selectingFields(ofSent: plain))
        let hasOtherUsers = downloader.configuration.credentials != nil && vary.names.contains("authorization")
        record.dependsOnHooks = hasOtherUsers || usual != selection
    }
}
