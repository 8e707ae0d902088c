import EideticCodecs
import EideticStore

/// Responds to loads: from memory, by an ``ImageJob`` that equal loads share, or by a validation of a cached image.
final class ImageLoader: Sendable {
    let dataLoader: ImageDataLoader
    let memory: ImageMemoryCache
    let stage: DecodeStage
    let derived: DerivedImageStore
    private let misses: MissReasons
    private let jobs = TaskCoalescer<JobKey, ImageTask.Event, ImageResponse>()

    var gate: InteractionGate { dataLoader.gate }
    var renditions: RenditionIndex { dataLoader.renditions }

    init(
        _ configuration: ImagePipeline.Configuration,
        memory: ImageMemoryCache,
        misses: MissReasons,
        gate: InteractionGate
    ) {
        self.memory = memory
        self.misses = misses
        let renditions = RenditionIndex(memory: memory)
        dataLoader = ImageDataLoader(configuration: configuration, gate: gate, renditions: renditions)
        let caches = configuration.applied(to: ImageCache.Configuration())
        stage = DecodeStage(caches, hostDecodePolicies: configuration.hostDecodePolicies)
        derived = DerivedImageStore(configuration, stage: stage, memory: memory)
    }

    /// Responds from memory, else by a job; with `refreshCached`, by a validation.
    nonisolated(nonsending) func respond(
        to load: Load,
        context: JobContext,
        report: @escaping ImagePipeline.Report
    ) async throws(EideticError) -> ImageResponse {
        let policy = load.policy
        guard !policy.revalidates else {
            return try await revalidatedResponse(to: load, context: context, report: report)
        }
        guard var hit = try await memoryResponse(to: load) else {
            return try await response(to: load, context: context, report: report)
        }
        if policy.cachePolicy.waitsForStorage { try await finishStorage(for: load, recordingIn: &hit) }
        return hit
    }

    /// Loads an image by a job, which equal loads share.
    ///
    /// - Throws: The errors of the load; `unsupportedFormat` if an animation is required.
    nonisolated(nonsending) func response(
        to load: Load,
        displaying displayed: Image? = nil,
        context: JobContext,
        report: @escaping ImagePipeline.Report = { _ in }
    ) async throws(EideticError) -> ImageResponse {
        let policy = load.policy
        let miss = policy.tiers == .sourceOnly ? "not searched" : misses.explanation(for: load.request.imageKey)
        let step = StepTimer().step(.memory, detail: miss)
        var response: ImageResponse
        if load.movesFile, displayed == nil {
            response = try await ImageJob(load, loader: self, context: context, report: report).response()
        } else {
            // Another caller of the same job may have asked for previews.
            let report: ImagePipeline.Report = { [showsPreviews = policy.showsPreviews] event in
                if case .preview = event, !showsPreviews { return }
                report(event)
            }
            let key = JobKey(for: load, displaying: displayed)
            response = try await jobs.value(for: key, context: context, onProgress: report) {
                [self] job throws(EideticError) in
                let (context, report) = (job.context, job.report)
                let job = ImageJob(load, displaying: displayed, loader: self, context: context, report: report)
                return try await job.response()
            }
        }
        guard !response.isUnchanged else { return response }
        try policy.check(response.image)
        if response.data?.facts.needsRevalidation == true, policy.refreshesStale {
            revalidateInBackground(load, displayed: response.image)
        }
        // Made from another image in memory, or by another load meanwhile: the bytes were not needed for it.
        if response.data == nil, policy.cachePolicy.includesBytes {
            response.encodedBytes = await dataLoader.cachedBytes(for: load)
        }
        if policy.cachePolicy.waitsForStorage { try await finishStorage(for: load, recordingIn: &response) }
        response.data = nil
        if displayed == nil { response.trace.steps.insert(step, at: 0) }
        return response
    }

    /// Returns the response from memory; `nil` if the image is not there.
    ///
    /// - Throws: `unsupportedFormat` if the image in memory is not animated, and the options require that.
    private func memoryResponse(to load: Load) async throws(EideticError) -> ImageResponse? {
        let timer = StepTimer()
        let policy = load.policy
        guard policy.tiers.allowsMemory, let image = memory.hit(for: load.request) else { return nil }
        // Before a revalidation an unsuitable image in memory counts as a miss.
        guard !policy.revalidates || policy.accepts(image) else { return nil }
        try policy.check(image)
        var response = ImageResponse(image, source: .memory, steps: [timer.step(.memory, detail: "hit")])
        if policy.cachePolicy.includesBytes { response.encodedBytes = await dataLoader.cachedBytes(for: load) }
        return response
    }

    /// Waits until the bytes are on disk; those of an image in memory may be on their way.
    ///
    /// - Throws: `cancelled` as soon as the task is cancelled.
    nonisolated(nonsending) private func finishStorage(
        for load: Load,
        recordingIn response: inout ImageResponse
    ) async throws(EideticError) {
        guard let data = response.data ?? dataLoader.unstoredImage(for: load.request) else { return }
        let timer = StepTimer()
        response.storeError = try await data.storage?.waitUntilStored()
        guard data.storage?.isStorable == true else { return }
        let outcome = response.storeError.map { "failed: \($0)" } ?? "stored"
        response.trace.steps.append(timer.step(.store, detail: outcome))
    }

    /// Loads the bytes to disk, unless they are there, and reads their header; memory gets nothing.
    func storedResponse(to load: Load, context: JobContext) async throws(EideticError) -> ImageResponse {
        try await ImageJob(load, loader: self, context: context, fillsMemory: false) { _ in }.storedResponse()
    }

    /// Waits until another process has downloaded the bytes, unless they are on disk.
    func transferredResponse(to load: Load, context: JobContext) async throws(EideticError) -> ImageResponse {
        let request = load.request
        guard let transferredImages = dataLoader.transferredImages else {
            throw EideticError(.refused, message: "\(request.name): the pipeline has no transfers, or no disk cache")
        }
        let isOnDisk = (try? await dataLoader.disk.disk?.contains(request.resourceKey)) ?? false
        if isOnDisk { return try await storedResponse(to: load, context: context) }
        let timer = StepTimer(), step: LoadTrace.Step
        do throws(EideticError) {
            try await transferredImages.download(load)
            step = timer.step(.network, detail: "by the transfer service")
        } catch  where error.code == .refused {
            Log.write(.info, category: .pipeline, message: "\(error)")
            return try await storedResponse(to: load, context: context)
        }
        var response = try await storedResponse(to: load, context: context)
        response.trace.steps.insert(step, at: 0)
        return response
    }

    /// Cancels all jobs, and those of the bytes.
    func cancelAll() {
        jobs.cancelAll()
        stage.decodes.cancelAll()
        dataLoader.jobs.cancelAll()
    }

    var isIdle: Bool {
        jobs.activeJobCount + stage.decodes.activeJobCount + dataLoader.jobs.activeJobCount
            + dataLoader.activeImages.storingCount + derived.pendingCount == 0
    }

    var joinedCount: Int {
        Int(jobs.statistics.joined + stage.decodes.statistics.joined + dataLoader.jobs.statistics.joined)
    }
}

// MARK: Validation
extension ImageLoader {
    /// Reports the cached image, then revalidates it with its server (`refreshCached`).
    ///
    /// The response has the cached image if it is unchanged or the server cannot be reached; otherwise, the new one.
    private func revalidatedResponse(
        to load: Load,
        context: JobContext,
        report: @escaping ImagePipeline.Report
    ) async throws(EideticError) -> ImageResponse {
        guard let cached = try await cachedResponse(to: load, context: context) else {
            // If an animation is required, the cached bytes may be those of a still image.
            let load = load.policy.requiresAnimation ? load.from(.sourceOnly) : load
            return try await response(to: load, context: context, report: report)
        }
        report(.cached(cached))
        let timer = StepTimer()
        do throws(EideticError) {
            return try await validatedResponse(to: load, cached: cached, context: context, report: report)
        } catch  where error.code != .cancelled {
            var cached = cached
            cached.trace.steps.append(timer.step(.network, detail: "failed: \(error)"))
            cached.revalidation = .failed(error)
            return cached
        }
    }

    private func validatedResponse(
        to load: Load,
        cached: ImageResponse,
        context: JobContext,
        report: @escaping ImagePipeline.Report
    ) async throws(EideticError) -> ImageResponse {
        let load = load.validating(isReload: true)
        var response = try await response(to: load, displaying: cached.image, context: context, report: report)
        guard response.isUnchanged else {
            response.revalidation = .changed
            return response
        }
        var unchanged = cached
        unchanged.trace.steps += response.trace.steps.suffix(1)
        unchanged.isTransferred = response.source == .network
        unchanged.revalidation = .unchanged
        if load.policy.cachePolicy.waitsForStorage { try await finishStorage(for: load, recordingIn: &unchanged) }
        return unchanged
    }

    /// Returns the image of a cache, however stale; `nil` if there is none that suits the request.
    private func cachedResponse(to load: Load, context: JobContext) async throws(EideticError) -> ImageResponse? {
        if let hit = try await memoryResponse(to: load) { return hit }
        do throws(EideticError) {
            return try await response(to: load.from(.cacheOnlyAllowingStale), context: context)
        } catch  where [.cacheMiss, .unsupportedFormat].contains(error.code) {
            return nil
        }
    }

    /// Revalidates an image that is shown although it is stale (`stale-while-revalidate`).
    ///
    /// Loads that show the same image share one request.
    private func revalidateInBackground(_ load: Load, displayed: Image) {
        Task.detached(priority: .utility) { [self] in
            let load = load.validating(isReload: false)
            let context = JobContext(priority: .low)
            do throws(EideticError) {
                _ = try await response(to: load, displaying: displayed, context: context) { _ in }
            } catch {
                Log.write(.info, category: .pipeline, message: "\(load.request.name): not revalidated: \(error)")
            }
        }
    }
}

// MARK: Keys
extension ImageLoader {
    /// The identity of a load: loads with equal keys are coalesced.
    private struct JobKey: Hashable {
        let imageKey: CacheKey
        let defersDecoding: Bool
        let tiers: LoadTiers
        let displayed: UInt64?
        let dataKey: ImageRequest.DataKey
        let reads: ImageRequest.CachePolicy.Tiers
        let writes: ImageRequest.CachePolicy.Tiers
        let decodePolicy: DecodePolicy?

        init(for load: Load, displaying displayed: Image?) {
            imageKey = load.request.imageKey
            defersDecoding = load.policy.defersDecoding
            tiers = load.policy.tiers
            self.displayed = displayed?.encodedChecksum
            dataKey = load.dataKey
            reads = load.policy.reads
            writes = load.policy.writes
            decodePolicy = load.request.decodePolicy
        }
    }
}
