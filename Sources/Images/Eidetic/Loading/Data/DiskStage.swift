import EideticCore
import EideticFetch
import EideticHTTP
import EideticStore

/// The disk cache as a stage of a load.
final class DiskStage: DataStage {
    let disk: DiskCache?
    let rules: FreshnessRules
    let downloader: Downloader
    /// The images whose download was handed over; `nil` without a service for it.
    let transferredImages: TransferredImages?
    let pool = WorkPool(name: "eidetic store", maximumThreadCount: 1, isForFiles: true)
    /// The parts of interrupted downloads; `nil` if the disk has none.
    let parts: PartStore?
    private let serializer: ImageCache.Serializer
    private let serializerPool: WorkPool

    init(configuration: ImagePipeline.Configuration, rules: FreshnessRules) {
        disk = configuration.diskCache
        self.rules = rules
        downloader = configuration.downloader
        transferredImages = TransferredImages(configuration: configuration)
        parts = PartStore(configuration)
        serializer = configuration.serializer
        serializerPool = WorkPool(
            name: "eidetic serializer",
            maximumThreadCount: configuration.maximumConcurrentDecodes
        )
    }

    nonisolated(nonsending) func find(_ job: DataJob, after search: DataSearch) async throws(EideticError) -> DataLookup
    {
        let timer = StepTimer(job.context)
        var lookup = await lookUp(job.load, context: job.context)
        // An earlier process may have handed over the download.
        if case .miss = lookup, await transferredImages?.waitForArrival(of: job.request) ?? false {
            lookup = await lookUp(job.load, context: job.context)
        }
        var search = search
        switch lookup {
        case .hit(let image): return .found(image)
        case .stale(let stored):
            search.stale = stored
            search.steps.append(timer.step(.disk, detail: "stale"))
        case .miss(let reason, let part):
            search.part = part
            search.steps.append(timer.step(.disk, detail: reason))
        }
        return .missing(search)
    }

    /// Returns the bytes on disk, however stale.
    func bytes(for load: Load) async -> [UInt8]? {
        switch await lookUp(load, context: JobContext(priority: load.request.priority)) {
        case .hit(let image): image.bytes
        case .stale(let stored): stored.bytes
        case .miss: nil
        }
    }
}

// MARK: Searching
extension DiskStage {
    private enum Lookup {
        /// No usable entry; the values are the reason, and the part that an earlier load has left.
        case miss(String, part: DiskCache.Entry? = nil)
        /// An entry that may be used.
        case hit(EncodedImage)
        /// An entry that the server must confirm first.
        case stale(StoredEntry)
    }

    /// Searches the disk cache; a disk that cannot be read counts as a miss, and the error is logged.
    nonisolated(nonsending) private func lookUp(_ load: Load, context: JobContext) async -> Lookup {
        guard disk != nil else { return .miss("there is no disk cache") }
        guard load.policy.reads.contains(.original) else { return .miss("not searched") }
        let timer = StepTimer(context)
        let budget = downloader.bodyBudget
        do throws(EideticError) {
            try await budget.waitForRoom(for: context)
            let search = try await search(for: load.request.resourceKey, context: context) {
                () async throws(EideticError) in
                try await self.selectingFields(for: load)
            }
            switch search {
            case .found(let stored):
                let share = budget.makeCompleteShare(of: stored.bytes, for: context)
                return image(of: stored, for: load, timer: timer, share: share).map { .hit($0) } ?? .stale(stored)
            case .missing(let reason, let part): return .miss(reason, part: part)
            }
        } catch {
            Log.write(.warning, category: .store, message: "\(load.request.name): not read from disk: \(error)")
            return .miss("miss: \(error)")
        }
    }

    /// Returns the image of an entry; `nil` if the server must confirm it first.
    private func image(of stored: StoredEntry, for load: Load, timer: StepTimer, share: BodyShare) -> EncodedImage? {
        guard case .allowed(let note, let timeToLive, let needsRevalidation) = rules.use(of: stored, for: load)
        else { return nil }
        let size = load.policy.tiers.isValidation ? "" : "hit, \(ByteCount(stored.bytes.count))"
        let detail = [size, note].filter { !$0.isEmpty }.joined(separator: ", ")
        var facts = EncodedImage.Facts()
        facts.freshness = EncodedImage.Freshness(timeToLive)
        facts.needsRevalidation = needsRevalidation
        facts.fields = stored.fields
        facts.diskKey = stored.entry.key
        facts.mayBeDerivedFrom = !rules.dependsOnFields(stored) && !stored.record.dependsOnHooks
        let step = timer.step(.disk, detail: detail)
        let image = EncodedImage(stored.bytes, from: .disk, steps: [step], facts: facts)
        return StoragePlan(for: image, share: share).image
    }

    /// The result of a search for an entry.
    enum Search {
        case found(StoredEntry)
        /// No entry; the values are the reason, and the part that an earlier load has left.
        case missing(String, part: DiskCache.Entry? = nil)
    }

    /// Searches the entry for a key, and for the fields of a request if the entry depends on them; also one that has
    /// expired if its server can confirm it.
    func search(
        for key: String,
        context: JobContext,
        selectingFields: () async throws(EideticError) -> [HTTPField]
    ) async throws(EideticError) -> Search {
        let result = try await searchEntry(for: key, context: context)
        guard case .found(let stored) = result, rules.dependsOnFields(stored) else { return result }
        let fields = try await selectingFields()
        let variantKey = try await pool.run(in: context) { _ in self.variantKey(besides: stored, for: fields) }
        guard let variantKey else { return result }
        return try await searchEntry(for: variantKey, context: context)
    }

    nonisolated(nonsending) private func searchEntry(for key: String, context: JobContext) async throws(EideticError)
        -> Search
    {
        guard let disk else { return .missing("there is no disk cache") }
        let lookup = try await disk.lookup.loadWithPart(key, context: context)
        switch lookup.outcome {
        case .entry(let entry): return .found(try await storedEntry(entry, context: context))
        case .absent: return .missing("miss", part: parts == nil ? nil : lookup.part)
        case .expired where rules.isHTTP:
            guard let entry = try await disk.read(key, allowingExpired: true) else { return .missing("miss: expired") }
            return .found(try await storedEntry(entry, isExpired: true, context: context))
        case .expired: return .missing("miss: expired")
        case .damaged(let reason): return .missing("miss: damaged, \(reason)")
        }
    }
}

// MARK: Serializing
extension DiskStage {
    /// Returns an entry with its encoded image, which a thread for the conversion makes of the bytes on disk.
    nonisolated(nonsending) func storedEntry(
        _ entry: DiskCache.Entry,
        isExpired: Bool = false,
        context: JobContext
    ) async throws(EideticError) -> StoredEntry {
        guard !serializer.isIdentity else { return StoredEntry(entry, isExpired: isExpired) }
        return try await serializerPool.run(in: context) { [serializer] _ throws(EideticError) in
            StoredEntry(entry, bytes: try serializer.decoded(entry).bytes, isExpired: isExpired)
        }
    }

    /// Returns the bytes that the disk has for an encoded image.
    nonisolated(nonsending) private func serialized(_ bytes: [UInt8], for key: String) async throws(EideticError)
        -> [UInt8]
    {
        guard let encode = serializer.encode else { return bytes }
        return try await serializerPool.run { _ throws(EideticError) in try encode(nil, bytes, key) }
    }

    /// Removes the entry of bytes that proved to be broken, unless they were replaced meanwhile.
    func discard(_ image: EncodedImage, for request: ImageRequest) async {
        guard let disk, let work = try? disk.work.begin() else { return }
        defer { work.end() }
        let key = image.diskKey ?? request.resourceKey
        _ = try? await pool.run { [serializer] _ throws(EideticError) in
            guard let entry = try disk.blocking.read(key, allowingExpired: true),
                try serializer.decoded(entry).bytes == image.bytes
            else { return }
            _ = try disk.blocking.remove(key)
        }
    }
}

// MARK: Storing
extension DiskStage {
    /// Stores the bytes of an image, as a part of `work`.
    nonisolated(nonsending) func insert(
        _ image: EncodedImage,
        for key: String,
        retention: Retention,
        within work: BackgroundWork
    ) async throws(EideticError) {
        guard let disk else { return }
        var retention = retention
        retention.record.replacementTime = await replacementTime(of: image, for: key, in: disk)
        let (key, metadata) = try await destination(for: key, retention: retention)
        try await disk.insert(
            try await serialized(image.bytes, for: key),
            checksum: serializer.isIdentity ? image.provenance.checksum : nil,
            for: key,
            metadata: metadata,
            within: work
        )
    }

    /// Removes the entry of bytes which were replaced by ones that must not be stored.
    func remove(_ key: String) async throws(EideticError) {
        guard let disk else { return }
        let isSearched = disk.configuration.tiers.isEmpty
        if isSearched, try await disk.lookup.loadOriginal(for: key) == nil { return }
        _ = try await disk.remove(key)
    }

    /// Returns the time at which bytes take the place of others; `nil` if the disk knows none.
    nonisolated(nonsending) private func replacementTime(of image: EncodedImage, for key: String, in disk: DiskCache)
        async -> Timestamp?
    {
        guard let known = try? await disk.lookup.loadOriginal(for: key) else { return nil }
        let isEqual = known.checksum == image.provenance.checksum
        return isEqual ? known.metadata.response.replacementTime : rules.now
    }

    /// Returns the key and the metadata of a new entry.
    nonisolated(nonsending) private func destination(
        for key: String,
        retention: Retention
    ) async throws(EideticError) -> (String, DiskCache.Metadata) {
        var retention = retention
        var key = key
        if !retention.selection.isEmpty {
            (key, retention) = try await pool.run { [retention, key] _ throws(EideticError) in
                var retention = retention
                let key = try self.assignKey(key, to: &retention)
                return (key, retention)
            }
        }
        return (key, retention.metadata)
    }

    /// Stores the header fields of a confirmation; the bytes stay as they are.
    ///
    /// An entry that may no longer be kept is removed.
    func refresh(_ stored: StoredEntry, with retention: Retention) async {
        let entry = stored.entry
        do throws(EideticError) {
            guard retention.place == .resource else {
                if retention.removesEntry { _ = try await disk?.remove(entry.key) }
                return
            }
            var metadata = entry.metadata
            metadata.headers = retention.metadata.headers
            metadata.storageTime = Timestamp(nanoseconds: 0)
            metadata.expirationTime = nil
            metadata.response = retention.record.keepingEntry(of: stored.record)
            try await disk?.replaceMetadata(of: entry, with: metadata)
        } catch {
            Log.write(.warning, category: .store, message: "\(entry.key): entry not refreshed: \(error)")
        }
    }
}
