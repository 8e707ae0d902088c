import EideticFetch
import EideticStore

/// The rules for how long entries of a cache are used; without those of HTTP an entry is used until its maximum age.
struct FreshnessRules: Sendable {
    let isHTTP: Bool
    let time: any TimeSource
    let disk: DiskCache?
    /// A Boolean value indicating whether an image on disk must have the pixels that its original decodes to.
    var isExact = false

    /// Creates the rules of a cache that belongs to no pipeline.
    init(of disk: DiskCache?) {
        isHTTP = false
        time = SystemTime()
        self.disk = disk
    }

    init(_ configuration: ImagePipeline.Configuration) {
        isHTTP = configuration.freshness == .http
        time = configuration.downloader.configuration.time
        disk = configuration.diskCache
        isExact = configuration.derivedImages.isExact
    }

    var now: Timestamp { time.now }

    /// Returns the time for which an entry is still fresh, and not expired; `nil` without a limit.
    func timeToLive(of metadata: DiskCache.Metadata) -> Duration? {
        let record = metadata.response
        let lifetime = disk?.timeToLive(of: metadata)
        guard let freshness = freshness(of: metadata.storedResponse, limit: record.limit) else { return lifetime }
        guard !record.dependsOnHooks else { return .zero }
        let remainder = freshness.remainder(at: now)
        return lifetime.map { min($0, remainder) } ?? remainder
    }

    /// Returns the freshness of an entry; `nil` if the pipeline ignores what the server says of it.
    func freshness(of stored: StoredEntry) -> ResponseFreshness? {
        freshness(of: stored.response, limit: stored.record.limit)
    }

    private func freshness(
        of response: ResponseFreshness.Response,
        limit: ResponseFreshness.Limit?
    ) -> ResponseFreshness? {
        isHTTP ? ResponseFreshness(response, heuristic: FreshnessHeuristic(), limit: limit) : nil
    }

    /// Returns whether an entry suits only some of the requests with its key.
    func dependsOnFields(_ stored: StoredEntry) -> Bool { isHTTP && !stored.record.selectingDigest.isEmpty }

    /// Returns whether a stale entry may be used although its revalidation failed.
    func allowsStale(_ stored: StoredEntry, after error: EideticError, for load: Load) -> Bool {
        guard error.code != .cancelled, !stored.isExpired, let freshness = freshness(of: stored) else { return false }
        return freshness.allowsStaleAfterError(at: now, status: error.httpStatus, request: load.policy.cacheFields)
    }
}

// MARK: Uses
extension FreshnessRules {
    /// The use of an entry for a load.
    enum Use {
        /// It may be used; in memory it is fresh for this time.
        case allowed(note: String, timeToLive: Duration?, needsRevalidation: Bool = false)
        /// It may not be used before the server has confirmed it.
        case refused
    }

    /// Returns how the tiers of a load and the freshness of an entry allow to use it.
    func use(of stored: StoredEntry, for load: Load) -> Use {
        let metadata = stored.entry.metadata
        if load.policy.tiers.isValidation {
            guard load.policy.tiers.isReload, isImmutable(stored) else { return .refused }
            return .allowed(note: "fresh and immutable", timeToLive: timeToLive(of: metadata))
        }
        guard load.server != nil, let freshness = freshness(of: stored) else {
            return .allowed(note: "", timeToLive: disk?.timeToLive(of: metadata))
        }
        switch stored.isExpired ? .afterValidation : freshness.reuse(at: now, request: load.policy.cacheFields) {
        case .fresh: return .allowed(note: "fresh", timeToLive: timeToLive(of: metadata))
        case .staleWhileRevalidating:
            let timeToLive = timeToLive(of: metadata)
            return .allowed(note: "stale while revalidated", timeToLive: timeToLive, needsRevalidation: true)
        case .afterValidation:
            let isAllowed = load.policy.tiers == .cacheOnlyAllowingStale && !stored.isExpired
            return isAllowed ? .allowed(note: "stale", timeToLive: .zero) : .refused
        }
    }

    /// Returns how images that were made from an entry may be used: they are not revalidated while they are shown.
    func use(ofImagesFrom metadata: DiskCache.Metadata, isExpired: Bool, for load: Load) -> Use {
        let key = load.request.resourceKey
        let stored = StoredEntry(DiskCache.Entry(key: key, bytes: [], metadata: metadata), isExpired: isExpired)
        guard !isExpired, !dependsOnFields(stored), !stored.record.dependsOnHooks else { return .refused }
        let use = use(of: stored, for: load)
        guard case .allowed(_, _, needsRevalidation: true) = use else { return use }
        let mayBeStale = load.policy.tiers == .cacheOnlyAllowingStale
        return mayBeStale ? .allowed(note: "stale", timeToLive: .zero) : .refused
    }

    /// Returns whether an entry is fresh and will not change (RFC 8246), so that not even a reload validates it.
    private func isImmutable(_ stored: StoredEntry) -> Bool {
        let freshness = ResponseFreshness(stored.response, heuristic: .none, limit: stored.record.limit)
        return !stored.isExpired && freshness.control.isImmutable && freshness.reuse(at: now) == .fresh
    }
}
