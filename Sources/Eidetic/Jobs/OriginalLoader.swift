import EideticCore
import EideticFetch
import EideticStore

/// Brings the encoded bytes of a picture from disk, else from where they come from, once for all who want them.
final class OriginalLoader: Sendable {
    /// Which caches may be asked; a caller who may not use the network joins nobody who does.
    enum Route: Hashable {
        case cacheThenOrigin, cacheOnly, originOnly

        init(_ options: ImageOptions) {
            self = options.contains(.fromLoaderOnly) ? .originOnly : .cacheThenOrigin
            if options.contains(.fromCacheOnly) { self = .cacheOnly }
        }
    }

    private struct Key: Hashable {
        let original: String
        let route: Route
        let options: ImageOptions
    }

    private struct WeakOriginal { weak var value: Original? }

    private let disk: DiskCache?
    private let sources: OriginReader
    private let gate: InteractionGate
    private let pool = WorkPool(name: "eidetic store", width: 1)
    private let jobs = SharedWork<Key, FetchProgress, Original>()
    private let inUse = Guarded<[String: WeakOriginal]>([:])

    init(_ configuration: ImagePipeline.Configuration, _ gate: InteractionGate) {
        self.gate = gate
        disk = configuration.diskCache
        sources = OriginReader(configuration)
    }

    func original(
        for request: ImageRequest,
        context: WorkContext,
        onProgress: (@Sendable (FetchProgress) -> Void)?
    ) async throws(EideticError) -> Original {
        let route = Route(request.options)
        let key = Key(
            original: request.originalKey,
            route: route,
            options: request.options.intersection(.ofTransfer)
        )
        return try await jobs.value(for: key, context: context, onProgress: onProgress) {
            job throws(EideticError) in
            try await self.find(request, route, job.context, job.report)
        }
    }

    /// Jobs that are under way.
    var running: Int { jobs.count }

    /// Answers for which the work of another caller was used.
    var joined: Int { Int(jobs.statistics.joined) }

    /// The bytes that a cache has; for a picture that was in memory.
    func cachedBytes(for request: ImageRequest) async -> [UInt8]? {
        if let held = held(request) { return held.bytes }
        if case .bytes(let bytes) = request.origin { return bytes }
        return await stored(request)?.bytes
    }

    /// Forgets the bytes of a picture that proved to be broken.
    func discard(_ request: ImageRequest) async {
        inUse.withLock { $0[request.originalKey] = nil }
        guard let disk else { return }
        _ = try? await pool.run { _ throws(EideticError) in try disk.remove(request.originalKey) }
    }

    private func find(
        _ request: ImageRequest,
        _ route: Route,
        _ context: WorkContext,
        _ report: @escaping @Sendable (FetchProgress) -> Void
    ) async throws(EideticError) -> Original {
        let timer = StepTimer()
        var steps: [LoadRecord.Step] = []
        if route != .originOnly, request.origin.isStored {
            if let original = held(request) { return original }
            if let original = await stored(request) { return original }
            steps.append(timer.step(.disk, disk == nil ? "there is no disk cache" : "miss"))
        }
        guard route != .cacheOnly || !request.origin.isStored else {
            throw EideticError(.cacheMiss, "no cache has \(request.name), and the network may not be asked")
        }
        try context.checkCancellation()
        try await gate.pass(context)
        let answer = try await sources.answer(for: request, context, report)
        guard let bytes = answer.bytes else {
            throw EideticError(.badResponse, "\(request.name): status 304 without a condition", httpStatus: 304)
        }
        return original(bytes, answer, request, after: steps)
    }

    /// Asks where the picture comes from, and no cache.
    func ask(
        _ request: ImageRequest,
        conditions: HTTPHeaders,
        _ context: WorkContext,
        _ report: @escaping @Sendable (FetchProgress) -> Void
    ) async throws(EideticError) -> OriginAnswer {
        try await sources.answer(for: request, conditions: conditions, context, report)
    }

    /// The bytes that came, found by all who ask from now on until they are on disk.
    func original(
        _ bytes: [UInt8],
        _ answer: OriginAnswer,
        _ request: ImageRequest,
        after steps: [LoadRecord.Step] = []
    ) -> Original {
        let original = Original(
            bytes: bytes,
            source: answer.step.stage == .network ? .network : .disk,
            steps: steps + [answer.step],
            store: writer(request, bytes, answer.fields)
        )
        hold(original, for: request.originalKey)
        return original
    }

    /// What the disk has; an unreadable disk is a miss, and said in the log.
    private func stored(_ request: ImageRequest) async -> Original? {
        guard let disk else { return nil }
        let timer = StepTimer()
        do throws(EideticError) {
            guard let entry = try await disk.value(for: request.originalKey) else { return nil }
            let step = timer.step(.disk, "hit, \(ByteCount(entry.bytes.count))")
            return Original(bytes: entry.bytes, source: .disk, steps: [step])
        } catch {
            Log.write(.warning, .store, "\(request.name): not read from disk: \(error)")
            return nil
        }
    }

    private func writer(
        _ request: ImageRequest,
        _ bytes: [UInt8],
        _ fields: [DiskCache.Metadata.Field]
    ) -> (@Sendable () async throws(EideticError) -> Void)? {
        guard let disk, request.origin.isStored, !request.options.contains(.cacheMemoryOnly) else { return nil }
        guard !StoredFields.forbidStoring(fields) else { return nil }
        let key = request.originalKey, metadata = DiskCache.Metadata(headers: fields)
        return { () async throws(EideticError) in try await disk.insert(bytes, for: key, metadata: metadata) }
    }

    private func held(_ request: ImageRequest) -> Original? {
        inUse.withLock { $0[request.originalKey]?.value }
    }

    private func hold(_ original: Original, for key: String) {
        inUse.withLock { inUse in
            inUse[key] = WeakOriginal(value: original)
            // Forget those that are gone, now and then.
            if inUse.count.isMultiple(of: 256) { inUse = inUse.filter { $0.value.value != nil } }
        }
    }
}
