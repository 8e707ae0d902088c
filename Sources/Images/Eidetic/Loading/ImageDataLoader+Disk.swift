import EideticCore
import EideticFetch
import EideticHTTP
import EideticStore

/// The disk cache as a stage of a load.
extension ImageDataLoader {
    /// The result of a search of the disk cache.
    enum DiskLookup {
        /// No usable entry; the value is the reason.
        case miss(String)
        /// An entry that may be used.
        case hit(EncodedImage)
        /// An entry that the server must confirm first.
        case stale(StoredEntry)
    }

    /// Searches the disk cache; a disk that cannot be read counts as a miss, and the error is logged.
    func diskLookup(for load: Load, context: JobContext) async -> DiskLookup {
        guard disk != nil else { return .miss("there is no disk cache") }
        guard load.policy.access.contains(.readOriginal) else { return .miss("not searched") }
        let timer = StepTimer(context), budget = source.downloader.bodyBudget
        do throws(EideticError) {
            try await budget.waitForRoom(for: context)
            let search = try await search(for: load.request.resourceKey, context: context) {
                () async throws(EideticError) in
                try await self.selectingFields(for: load)
            }
            switch search {
            case .found(let stored):
                let share = budget.makeCompleteShare(of: stored.bytes, for: context)
                return lookup(of: stored, for: load, timer: timer, share: share)
            case .missing(let reason): return .miss(reason)
            }
        } catch {
            Log.write(.warning, category: .store, message: "\(load.request.name): not read from disk: \(error)")
            return .miss("miss: \(error)")
        }
    }

    /// The result of a search for an entry.
    enum Search {
        case found(StoredEntry)
        /// No entry; the value is the reason.
        case missing(String)
    }

    /// Searches the entry for a key, and for the fields of a request if the entry depends on them; also one that has
    /// expired if its server can confirm it.
    func search(
        for key: String,
        context: JobContext,
        selectingFields: () async throws(EideticError) -> [HTTPField]
    ) async throws(EideticError) -> Search {
        let result = try await searchEntry(for: key, context: context)
        guard case .found(let stored) = result, dependsOnFields(stored) else { return result }
        let fields = try await selectingFields()
        let variantKey = try await pool.run(in: context) { _ in self.variantKey(besides: stored, for: fields) }
        guard let variantKey else { return result }
        return try await searchEntry(for: variantKey, context: context)
    }

    private func searchEntry(for key: String, context: JobContext) async throws(EideticError) -> Search {
        guard let disk else { return .missing("there is no disk cache") }
        switch try await disk.lookUp(key, context: context) {
        case .entry(let entry): return .found(try await storedEntry(entry, context: context))
        case .absent: return .missing("miss")
        case .expired where usesHTTPFreshness:
            guard let entry = try await disk.read(key, allowingExpired: true) else { return .missing("miss: expired") }
            return .found(try await storedEntry(entry, isExpired: true, context: context))
        case .expired: return .missing("miss: expired")
        case .damaged(let reason): return .missing("miss: damaged, \(reason)")
        }
    }

    /// Returns the bytes that a cache has, however stale, for an image that was in memory.
    func cachedBytes(for load: Load) async -> [UInt8]? {
        if let bytes = bytesInMemory(for: load.request) { return bytes }
        switch await diskLookup(for: load, context: JobContext(priority: load.request.priority)) {
        case .hit(let image): return image.bytes
        case .stale(let stored): return stored.bytes
        case .miss: return nil
        }
    }

    /// Returns the image that is being written to disk, or could not be, although memory may have it decoded.
    func unstoredImage(for request: ImageRequest) -> EncodedImage? {
        activeImages[request.dataKey].flatMap { $0.hasStartedStoring ? $0 : nil }
    }

    private func bytesInMemory(for request: ImageRequest) -> [UInt8]? {
        if let image = activeImages[request.dataKey] { return image.bytes }
        if case .bytes(let bytes) = request.resource { return bytes }
        return nil
    }

    /// The use of images that were made from an entry.
    enum Reuse {
        /// They may be used without the server; in memory they are fresh for this time.
        case allowed(timeToLive: Duration?)
        /// They may not be used before the server has confirmed the entry.
        case refused
    }

    /// Returns how images that were made from an entry may be used.
    func reuse(of metadata: DiskCache.Metadata, isExpired: Bool, for load: Load) -> Reuse {
        let stored = StoredEntry(DiskCache.Entry(key: load.request.resourceKey, bytes: [], metadata: metadata))
        guard !isExpired, !dependsOnFields(stored), !stored.record.dependsOnHooks else { return .refused }
        guard load.server != nil, let freshness = freshness(of: stored) else {
            return .allowed(timeToLive: disk?.timeToLive(of: metadata))
        }
        guard freshness.reuse(at: now, request: load.policy.cacheFields) != .fresh else {
            return .allowed(timeToLive: timeToLive(of: metadata))
        }
        return load.policy.tiers == .cacheOnlyAllowingStale ? .allowed(timeToLive: .zero) : .refused
    }

    /// Returns how the tiers and the freshness of an entry allow to use it.
    private func lookup(
        of stored: StoredEntry,
        for load: Load,
        timer: StepTimer,
        share: BodyShare? = nil
    ) -> DiskLookup {
        func hit(_ detail: String, for timeToLive: Duration?, needsRevalidation: Bool = false) -> DiskLookup {
            .hit(
                EncodedImage(
                    bytes: stored.bytes,
                    source: .disk,
                    steps: [timer.step(.disk, detail: detail)],
                    timeToLive: timeToLive,
                    needsRevalidation: needsRevalidation,
                    diskKey: stored.entry.key,
                    mayBeDerivedFrom: !dependsOnFields(stored) && !stored.record.dependsOnHooks,
                    share: share
                )
            )
        }
        let size = "hit, \(ByteCount(stored.bytes.count))", metadata = stored.entry.metadata
        if load.policy.tiers.isValidation {
            let isImmutable = load.policy.tiers.isReload && isImmutable(stored)
            return isImmutable ? hit("fresh and immutable", for: timeToLive(of: metadata)) : .stale(stored)
        }
        guard load.server != nil, let freshness = freshness(of: stored) else {
            return hit(size, for: disk?.timeToLive(of: metadata))
        }
        switch stored.isExpired ? .afterValidation : freshness.reuse(at: now, request: load.policy.cacheFields) {
        case .fresh: return hit("\(size), fresh", for: timeToLive(of: metadata))
        case .staleWhileRevalidating:
            return hit("\(size), stale while revalidated", for: timeToLive(of: metadata), needsRevalidation: true)
        case .afterValidation:
            let isAllowed = load.policy.tiers == .cacheOnlyAllowingStale && !stored.isExpired
            return isAllowed ? hit("\(size), stale", for: .zero) : .stale(stored)
        }
    }
}
