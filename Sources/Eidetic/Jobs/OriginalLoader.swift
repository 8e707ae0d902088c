import EideticCore
import EideticFetch
import EideticStore

/// Brings the encoded bytes of a picture from disk, else from where they come from, once for all who want them.
final class ImageDataLoader: Sendable {
    /// Which caches may be asked; a caller who may not use the network joins nobody who does.
    enum CachePolicy: Hashable {
        case cacheThenOrigin, cacheOnly, originOnly
        /// The cache only, and what it has however stale: the server is asked about it afterwards.
        case anyCached

        var asksOrigin: Bool { self == .cacheThenOrigin || self == .originOnly }

        init(_ options: ImageOptions) {
            self = options.contains(.fromLoaderOnly) ? .originOnly : .cacheThenOrigin
            if options.contains(.fromCacheOnly) { self = .cacheOnly }
        }
    }

    private struct Key: Hashable {
        let transfer: ImageRequest.DataKey
        let route: CachePolicy
    }

    private struct WeakOriginal { weak var value: EncodedImage? }

    let disk: DiskCache?
    let policy: ImagePipeline.Configuration.Freshness
    private let sources: ImageDataSource
    private let gate: InteractionGate
    private let pool = WorkPool(name: "eidetic store", maximumThreadCount: 1)
    private let jobs = TaskCoalescer<Key, DataChunk, EncodedImage>()
    private let inUse = Guarded<[ImageRequest.DataKey: WeakOriginal]>([:])
    let derived: RenditionIndex

    init(_ configuration: ImagePipeline.Configuration, _ gate: InteractionGate, _ derived: RenditionIndex) {
        self.gate = gate
        self.derived = derived
        disk = configuration.diskCache
        policy = configuration.freshness
        sources = ImageDataSource(configuration)
    }

    /// `route` is the one of the request's options unless another is given.
    func original(
        for request: ImageRequest,
        route: CachePolicy? = nil,
        context: JobContext,
        onProgress: (@Sendable (DataChunk) -> Void)?
    ) async throws(EideticError) -> EncodedImage {
        let route = route ?? CachePolicy(request.options)
        let key = Key(transfer: request.dataKey, route: route)
        return try await jobs.value(for: key, context: context, onProgress: onProgress) {
            job throws(EideticError) in
            try await self.find(request, route, job.context, job.report)
        }
    }

    /// Jobs that are under way.
    var running: Int { jobs.activeJobCount }

    /// Originals on their way to the disk.
    var storing: Int { inUse.withLock { $0.values.count { $0.value?.isBeingStored == true } } }

    /// Answers for which the work of another caller was used.
    var joined: Int { Int(jobs.statistics.joined) }

    /// The bytes that a cache has, read by the calling thread.
    func cachedBytesAtOnce(for request: ImageRequest) -> [UInt8]? {
        if let held = held(request) { return held.bytes }
        if case .bytes(let bytes) = request.resource { return bytes }
        return try? disk?.read(request.resourceKey, allowingExpired: true)?.bytes
    }

    /// The bytes that a cache has; for a picture that was in memory.
    func cachedBytes(for request: ImageRequest) async -> [UInt8]? {
        if let held = held(request) { return held.bytes }
        if case .bytes(let bytes) = request.resource { return bytes }
        switch await stored(request, JobContext(priority: request.priority)) {
        case .usable(let original): return original.bytes
        case .stale(let entry): return entry.bytes
        case .nothing: return nil
        }
    }

    /// Forgets the bytes of a picture that proved to be broken, and only these: others may be there by now.
    func discard(_ original: EncodedImage, _ request: ImageRequest) async {
        letGo(original, request)
        guard let disk else { return }
        _ = try? await pool.run { _ throws(EideticError) in
            guard try disk.read(request.resourceKey, allowingExpired: true)?.bytes == original.bytes else { return }
            _ = try disk.remove(request.resourceKey)
        }
    }

    /// Gives bytes under way to nobody any more.
    private func letGo(_ original: EncodedImage, _ request: ImageRequest) {
        inUse.withLock { inUse in
            if inUse[request.dataKey]?.value === original { inUse[request.dataKey] = nil }
        }
    }

    private func find(
        _ request: ImageRequest,
        _ route: CachePolicy,
        _ context: JobContext,
        _ report: @escaping @Sendable (DataChunk) -> Void
    ) async throws(EideticError) -> EncodedImage {
        let timer = StepTimer()
        var steps: [LoadTrace.Step] = [], stale: DiskCache.Entry?
        if route != .originOnly, request.resource.isStoredOnDisk {
            if let original = held(request) { return original }
            try await gate.pass(context)
            switch await stored(request, context) {
            case .usable(let original): return original
            case .stale(let entry) where route == .anyCached:
                let step = timer.step(.disk, detail: "hit, \(ByteCount(entry.bytes.count)), stale")
                return EncodedImage(bytes: entry.bytes, source: .disk, steps: [step], freshFor: .zero)
            case .stale(let entry):
                stale = entry
                steps.append(timer.step(.disk, detail: "stale"))
            case .nothing(let reason): steps.append(timer.step(.disk, detail: reason))
            }
        }
        guard route.asksOrigin || !request.resource.isStoredOnDisk else { throw Self.miss(request) }
        try context.checkCancellation()
        try await gate.pass(context)
        return try await fetched(request, stale, after: steps, context, report)
    }

    /// What is thrown where no cache has a picture.
    static func miss(_ request: ImageRequest) -> EideticError {
        EideticError(.cacheMiss, message: "no cache has \(request.name), and the network may not be asked")
    }

    /// Remembers that what a server sends for a picture is none, so that it is left alone for a while (L07).
    func note(_ error: EideticError, of original: EncodedImage, _ request: ImageRequest) {
        letGo(original, request)
        if let remote = original.remote { sources.note(error, of: remote, request.options) }
    }

    /// Asks where the picture comes from, with the conditions of the entry that is stale.
    private func fetched(
        _ request: ImageRequest,
        _ stale: DiskCache.Entry?,
        after steps: [LoadTrace.Step],
        _ context: JobContext,
        _ report: @escaping @Sendable (DataChunk) -> Void
    ) async throws(EideticError) -> EncodedImage {
        let timer = StepTimer()
        do throws(EideticError) {
            let answer = try await ask(request, stale, context, report)
            if let bytes = answer.bytes { return original(bytes, answer, request, after: steps) }
            guard let stale else {
                throw EideticError(
                    .badResponse,
                    message: "\(request.name): status 304 without a condition",
                    httpStatus: 304
                )
            }
            await keepOn(stale, answer.fields, request)
            return confirmed(stale, answer, request, after: steps)
        } catch {
            guard let stale, mayServe(stale, after: error) else { throw error }
            let kept = steps + [timer.step(.network, detail: "stale, because of \(error)")]
            return EncodedImage(bytes: stale.bytes, source: .disk, steps: kept, freshFor: .zero)
        }
    }

    /// Asks where the picture comes from, and no cache; with a condition where an entry has something to compare by.
    func ask(
        _ request: ImageRequest,
        _ entry: DiskCache.Entry?,
        _ context: JobContext,
        _ report: @escaping @Sendable (DataChunk) -> Void
    ) async throws(EideticError) -> ImageDataSourceResponse {
        let fields = entry.map { Validators($0.metadata.headers).conditionalFields } ?? []
        let conditions = HTTPHeaders(fields.map { .init(name: $0.name, value: $0.value) })
        return try await sources.answer(for: request, conditions: conditions, context, report)
    }

    /// The bytes of an entry that the server has confirmed.
    func confirmed(
        _ entry: DiskCache.Entry,
        _ answer: ImageDataSourceResponse,
        _ request: ImageRequest,
        after steps: [LoadTrace.Step] = []
    ) -> EncodedImage {
        let merged = NotModified.merge(answer.fields, into: entry.metadata.headers)
        return EncodedImage(
            bytes: entry.bytes,
            source: answer.isTransferred ? .network : .disk,
            steps: steps + [answer.step],
            freshFor: freshFor(merged, request),
            announce: announcement(request)
        )
    }

    /// Has what was made of other bytes go from memory.
    private func announcement(_ request: ImageRequest) -> EncodedImage.Announcement {
        { [derived] in derived.replace(request, by: $0, isAgain: $1) }
    }

    /// The bytes that came, found by all who ask from now on until they are on disk, where they may be kept.
    func original(
        _ bytes: [UInt8],
        _ answer: ImageDataSourceResponse,
        _ request: ImageRequest,
        after steps: [LoadTrace.Step] = []
    ) -> EncodedImage {
        let original = EncodedImage(
            bytes: bytes,
            source: answer.step.stage == .network ? .network : .disk,
            steps: steps + [answer.step],
            freshFor: freshFor(answer.fields, request),
            remote: answer.remote,
            announce: announcement(request),
            store: writer(request, bytes, answer.fields)
        )
        // What is neither kept nor fresh belongs to those alone who waited for it.
        if original.belongsOnDisk || original.freshFor != .zero { hold(original, for: request.dataKey) }
        return original
    }

    private func writer(
        _ request: ImageRequest,
        _ bytes: [UInt8],
        _ fields: [HTTPField]
    ) -> (@Sendable () async throws(EideticError) -> Void)? {
        guard let disk, request.resource.isStoredOnDisk, !request.options.contains(.cacheMemoryOnly),
            Self.isStorable(fields, request)
        else { return nil }
        let key = request.resourceKey, metadata = DiskCache.Metadata(headers: fields)
        return { () async throws(EideticError) in try await disk.insert(bytes, for: key, metadata: metadata) }
    }

    /// The bytes that are on their way to the disk.
    ///
    /// Once they are there the disk answers, which knows how long they are fresh.
    func held(_ request: ImageRequest) -> EncodedImage? {
        let original = inUse.withLock { $0[request.dataKey]?.value }
        return original?.isStored == true ? nil : original
    }

    /// What is on its way to the disk, or could not get there, of a picture that memory may have.
    func unstored(_ request: ImageRequest) -> EncodedImage? { held(request).flatMap { $0.hasBegunStoring ? $0 : nil } }

    private func hold(_ original: EncodedImage, for key: ImageRequest.DataKey) {
        inUse.withLock { inUse in
            inUse[key] = WeakOriginal(value: original)
            // Forget those that are gone, now and then.
            if inUse.count.isMultiple(of: 256) { inUse = inUse.filter { $0.value.value != nil } }
        }
    }
}
