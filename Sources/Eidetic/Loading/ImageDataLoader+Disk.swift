import EideticCore
import EideticFetch
import EideticHTTP
import EideticStore

/// The disk cache as a step of a load.
extension ImageDataLoader {
    /// Searches the disk cache; a disk that cannot be read counts as a miss, and the error is logged.
    func diskLookup(for request: ImageRequest, context: JobContext) async -> DiskLookup {
        guard disk != nil else { return .miss("there is no disk cache") }
        let timer = StepTimer(), budget = source.downloader.bodyBudget
        do throws(EideticError) {
            try await budget.waitForRoom(for: context)
            switch try await search(for: request, context: context) {
            case .found(let stored):
                let share = budget.makeCompleteShare(of: stored.bytes, for: context)
                return lookup(of: stored, for: request, timer: timer, share: share)
            case .missing(let reason): return .miss(reason)
            }
        } catch {
            Log.write(.warning, category: .store, message: "\(request.name): not read from disk: \(error)")
            return .miss("miss: \(error)")
        }
    }

    /// The result of a search for an entry.
    enum Search {
        case found(StoredEntry)
        /// No entry; the value is the reason.
        case missing(String)

        var stored: StoredEntry? { if case .found(let stored) = self { stored } else { nil } }
    }

    /// Searches the entry that suits a request, also one that has expired if its server can confirm it.
    func search(for request: ImageRequest, context: JobContext) async throws(EideticError) -> Search {
        try await search(for: request.resourceKey, context: context) { () async throws(EideticError) in
            try await self.selectingFields(for: request)
        }
    }

    /// Searches the entry for a key, and for the fields of a request if the entry depends on them.
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
        case .entry(let entry): return .found(StoredEntry(entry))
        case .absent: return .missing("miss")
        case .expired where usesHTTPFreshness:
            let entry = try await disk.read(key, allowingExpired: true)
            return entry.map { .found(StoredEntry($0, isExpired: true)) } ?? .missing("miss: expired")
        case .expired: return .missing("miss: expired")
        case .damaged(let reason): return .missing("miss: damaged, \(reason)")
        }
    }

    /// Returns an image that may be used without revalidation, read from disk by the calling thread.
    func imageSynchronously(for request: ImageRequest) -> EncodedImage? {
        guard request.resource.isStoredOnDisk else { return nil }
        if let image = activeImages[request.dataKey] { return image }
        let timer = StepTimer()
        guard let stored = storedEntrySynchronously(for: request, allowingExpired: false),
            case .hit(let image) = lookup(of: stored, for: request, timer: timer), !image.needsRevalidation
        else { return nil }
        return image
    }

    /// Returns the entry that suits a request, read by the calling thread; `nil` if that depends on a hook.
    private func storedEntrySynchronously(for request: ImageRequest, allowingExpired: Bool) -> StoredEntry? {
        guard let disk, let entry = try? disk.blocking.read(request.resourceKey, allowingExpired: allowingExpired)
        else { return nil }
        let stored = StoredEntry(entry), downloader = source.downloader
        guard dependsOnFields(stored), let server = request.server else { return stored }
        guard !downloader.modifiesRequests else { return nil }
        let fields = downloader.selectingFields(ofSent: server.applying(request.options))
        guard let key = variantKey(besides: stored, for: fields) else { return stored }
        return (try? disk.blocking.read(key, allowingExpired: allowingExpired)).map { StoredEntry($0) }
    }

    /// Returns the bytes that a cache has, however stale, for an image that was in memory.
    func cachedBytes(for request: ImageRequest) async -> [UInt8]? {
        if let bytes = bytesInMemory(for: request) { return bytes }
        switch await diskLookup(for: request, context: JobContext(priority: request.priority)) {
        case .hit(let image): return image.bytes
        case .stale(let stored): return stored.bytes
        case .miss: return nil
        }
    }

    /// Returns the bytes that a cache has, however stale, read by the calling thread.
    func cachedBytesSynchronously(for request: ImageRequest) -> [UInt8]? {
        bytesInMemory(for: request) ?? storedEntrySynchronously(for: request, allowingExpired: true)?.bytes
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

    private func lookup(
        of stored: StoredEntry,
        for request: ImageRequest,
        timer: StepTimer,
        share: BodyShare? = nil
    ) -> DiskLookup {
        let detail = "hit, \(ByteCount(stored.bytes.count))"
        guard request.server != nil, let freshness = freshness(of: stored) else {
            let step = timer.step(.disk, detail: detail)
            return .hit(EncodedImage(bytes: stored.bytes, source: .disk, steps: [step], share: share))
        }
        let use = stored.isExpired ? .afterValidation : freshness.reuse(at: now, request: request.cacheFields)
        guard use != .afterValidation else { return .stale(stored) }
        let step = timer.step(.disk, detail: detail + (use == .fresh ? ", fresh" : ", stale while revalidated"))
        return .hit(
            EncodedImage(
                bytes: stored.bytes,
                source: .disk,
                steps: [step],
                timeToLive: timeToLive(of: stored.entry.metadata),
                needsRevalidation: use == .staleWhileRevalidating,
                diskKey: stored.entry.key,
                share: share
            )
        )
    }
}
