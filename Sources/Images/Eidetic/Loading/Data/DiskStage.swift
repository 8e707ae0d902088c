import EideticCodecs
import EideticFetch
import EideticStore

final class DiskStage: DataStage {
    let disk: DiskCache?
    let rules: FreshnessRules
    let downloader: Downloader
    let pool = WorkPool(name: "eidetic store", maximumThreadCount: 1, isForFiles: true)
    /// The parts of interrupted downloads; `nil` if the disk has none.
    let parts: PartStore?
    private let serializer: ImageCache.Serializer
    private let serializerPool: WorkPool

    init(configuration: ImagePipeline.Configuration, rules: FreshnessRules) {
        disk = configuration.diskCache
        self.rules = rules
        downloader = configuration.downloader
        parts = PartStore(configuration)
        serializer = configuration.serializer
        serializerPool = WorkPool(
            name: "eidetic serializer",
            maximumThreadCount: configuration.maximumConcurrentDecodes
        )
    }

    /// Searches the disk cache; a disk that cannot be read counts as a miss, and the error is logged.
    nonisolated(nonsending) func find(_ job: DataJob, after search: DataSearch) async throws(EideticError) -> DataLookup
    {
        let (load, context) = (job.load, job.context)
        let timer = StepTimer(context)
        var search = search
        var detail = disk == nil ? "there is no disk cache" : "not searched"
        if disk != nil, job.reads.contains(.original) {
            let budget = downloader.bodyBudget
            do throws(EideticError) {
                try await budget.waitForRoom(for: context)
                let found = try await self.search(for: load.request.resourceKey, context: context) {
                    () async throws(EideticError) in
                    guard let server = load.server else { return [] }
                    return try await self.downloader.selectingFields(for: server)
                }
                switch found {
                case .found(let stored):
                    let share = budget.makeCompleteShare(of: stored.bytes, for: context)
                    let image = image(of: stored, for: load, after: search.steps, timer: timer, share: share)
                    if let image { return .found(image) }
                    search.stale = stored
                    detail = "stale"
                case .missing(let reason, let part):
                    search.part = part
                    detail = reason
                }
            } catch {
                Log.write(.warning, category: .store, message: "\(load.request.name): not read from disk: \(error)")
                detail = "miss: \(error)"
            }
        }
        search.steps.append(timer.step(.disk, detail: detail))
        return .missing(search)
    }

    /// Returns the bytes on disk, however stale.
    func bytes(for load: Load) async -> [UInt8]? {
        let job = DataJob(load: load, context: JobContext(priority: load.request.priority)) { _ in }
        return switch try? await find(job, after: DataSearch()) {
        case .found(let image): image.bytes
        case .missing(let search): search.stale?.bytes
        case nil: nil
        }
    }
}

// MARK: Searching
extension DiskStage {
    /// Returns the image of an entry; `nil` if the server must confirm it first.
    private func image(
        of stored: StoredEntry,
        for load: Load,
        after steps: [LoadTrace.Step],
        timer: StepTimer,
        share: BodyShare
    ) -> EncodedImage? {
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
        let image = EncodedImage(stored.bytes, from: .disk, steps: steps + [step], facts: facts)
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
    nonisolated(nonsending) func search(
        for key: String,
        isVariant: Bool = false,
        context: JobContext,
        selectingFields: () async throws(EideticError) -> [HTTPField]
    ) async throws(EideticError) -> Search {
        guard let disk else { return .missing("there is no disk cache") }
        let lookup = try await disk.lookup.loadWithPart(key, context: context)
        let stored: StoredEntry
        switch lookup.outcome {
        case .entry(let entry): stored = try await storedEntry(entry, context: context)
        case .absent: return .missing("miss", part: parts == nil ? nil : lookup.part)
        case .expired:
            guard rules.isHTTP, let entry = try await disk.read(key, allowingExpired: true) else {
                return .missing("miss: expired")
            }
            stored = try await storedEntry(entry, isExpired: true, context: context)
        case .damaged(let reason): return .missing("miss: damaged, \(reason)")
        }
        guard !isVariant, rules.dependsOnFields(stored) else { return .found(stored) }
        let fields = try await selectingFields()
        let variantKey = try await pool.run(in: context) { _ in self.variantKey(besides: stored, for: fields) }
        guard let variantKey else { return .found(stored) }
        return try await search(for: variantKey, isVariant: true, context: context, selectingFields: selectingFields)
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
        let key = image.facts.diskKey ?? request.resourceKey
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
        let known = try? await disk.lookup.loadOriginal(for: key)
        retention.record.replacementTime = known?.replacementTime(by: image.provenance.checksum, at: rules.now)
        var (key, metadata) = (key, retention.metadata)
        if !retention.selection.isEmpty {
            (key, metadata) = try await pool.run { [key, retention] _ throws(EideticError) in
                try self.variant(of: key, for: retention, in: disk)
            }
        }
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
        guard try await disk.lookup.loadOriginal(for: key) != nil else { return }
        _ = try await disk.remove(key)
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
            metadata.expirationTime = retention.metadata.expirationTime
            metadata.response = retention.record.keepingEntry(of: stored.record)
            try await disk?.replaceMetadata(of: entry, with: metadata)
        } catch {
            Log.write(.warning, category: .store, message: "\(entry.key): entry not refreshed: \(error)")
        }
    }
}

// MARK: Variants
/// Several responses of one URL side by side, selected by fields of the request (`Vary`).
///
/// The first response has the key of the resource. The keys of the others contain a number that the first one records,
/// and a digest of the selecting fields. So they are no longer found after the first one was removed or replaced by a
/// response that another set of fields selects, and are evicted as any other entry.
extension DiskStage {
    /// Returns the key of the variant that suits a request; `nil` if that is the entry itself.
    ///
    /// It blocks.
    private func variantKey(besides stored: StoredEntry, for fields: [HTTPField]) -> String? {
        guard let disk, let selection = Vary(stored.fields).selection(from: fields) else { return nil }
        let key = Self.key(ofVariant: selection, number: stored.record.variants, of: stored.entry.key)
        return Self.digest(in: disk.storedKeyForReading(key)) == stored.record.selectingDigest ? nil : key
    }

    /// Returns the key and the metadata of a response that fields of the request selected.
    ///
    /// It blocks.
    private func variant(
        of key: String,
        for retention: Retention,
        in disk: DiskCache
    ) throws(EideticError) -> (String, DiskCache.Metadata) {
        var metadata = retention.metadata
        let first = try disk.lookup.info(for: key)?.metadata
        let known = first?.response
        let hasSameFields = first.map { Vary($0.headers) } == Vary(metadata.headers)
        let number = hasSameFields ? known?.variants ?? 0 : 0
        metadata.response.variants = number == 0 ? UInt64.random(in: 1 ... .max) : number
        let variantKey = Self.key(ofVariant: retention.selection, number: metadata.response.variants, of: key)
        let digest = Self.digest(in: try disk.storedKeyForWriting(variantKey))
        metadata.response.selectingDigest = digest
        return (number == 0 || known?.selectingDigest == digest ? key : variantKey, metadata)
    }

    /// Returns the key of a variant; the disk stores the fields, which may be secret, in the form of a keyed digest.
    private static func key(ofVariant selection: String, number: UInt64, of key: String) -> String {
        "\(key)\nvariant \(number)" + SecretKeyPart.text(for: selection)
    }

    /// Returns the digest at the end of a stored key.
    private static func digest(in storedKey: String) -> String { String(storedKey.suffix(2 * Digest.size)) }
}

/// An entry on disk with its encoded image.
struct StoredEntry: Sendable {
    let entry: DiskCache.Entry
    let bytes: [UInt8]
    /// A Boolean value indicating whether the entry is older than the disk cache's maximum age.
    let isExpired: Bool

    /// Creates the stored entry; without `bytes` those on disk are the encoded image.
    init(_ entry: DiskCache.Entry, bytes: [UInt8]? = nil, isExpired: Bool = false) {
        self.entry = entry
        self.bytes = bytes ?? entry.bytes
        self.isExpired = isExpired
    }

    var record: ResponseRecord { entry.metadata.response }

    var fields: [HTTPField] { entry.metadata.headers }

    var response: ResponseFreshness.Response { entry.metadata.storedResponse }
}

extension ResponseRecord {
    /// The placeholder of the image; `nil` if none was made.
    var imagePlaceholder: ImagePlaceholder? {
        get { ImagePlaceholder(word: placeholder) }
        set { placeholder = newValue?.word ?? "" }
    }
}
