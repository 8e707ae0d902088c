import EideticCore
import EideticStore

/// The last step of each load: the response from memory, else from a job, or from a validation of a cached image.
struct LoadResponder: Sendable {
    let loader: ImageLoader
    let misses: MissReasons

    private var memory: ImageMemoryCache { loader.memory }

    /// Responds from memory, else by a job; with `refreshCached`, by a validation.
    func respond(
        to load: Load,
        context: JobContext,
        report: @escaping ImagePipeline.Report
    ) async throws(EideticError) -> ImageResponse {
        guard !load.policy.revalidates else {
            return try await revalidatedResponse(to: load, context: context, report: report)
        }
        guard var hit = try await memoryResponse(to: load) else {
            return try await loadedResponse(to: load, context: context, report: report)
        }
        try await finishStorage(for: load, recordingIn: &hit)
        return hit
    }

    /// Returns the response from memory; `nil` if the image is not there.
    ///
    /// - Throws: `unsupportedFormat` if the image in memory is not animated, and the options require that.
    nonisolated(nonsending) private func memoryResponse(to load: Load) async throws(EideticError) -> ImageResponse? {
        let timer = StepTimer()
        let policy = load.policy
        guard policy.tiers.allowsMemory, let image = memory.hit(for: load.request) else { return nil }
        // Before a revalidation an unsuitable image in memory counts as a miss.
        guard !policy.revalidates || policy.accepts(image) else { return nil }
        try policy.check(image)
        var response = ImageResponse(fromMemory: image, step: timer.step(.memory, detail: "hit"))
        if policy.includesBytes { response.encodedBytes = await loader.dataLoader.cachedBytes(for: load) }
        return response
    }

    /// Loads the image.
    ///
    /// - Throws: The errors of the load; `unsupportedFormat` if an animation is required.
    func loadedResponse(
        to load: Load,
        context: JobContext,
        report: @escaping ImagePipeline.Report = { _ in }
    ) async throws(EideticError) -> ImageResponse {
        let policy = load.policy
        let miss = policy.tiers == .sourceOnly ? "not searched" : misses.explanation(for: load.request.imageKey)
        let step = StepTimer().step(.memory, detail: miss)
        var response = try await loader.response(to: load, context: context, report: report)
        try policy.check(response.image)
        if response.data?.needsRevalidation == true, policy.refreshesStale {
            revalidateInBackground(load, displayed: response.image)
        }
        try await complete(&response, for: load)
        response.trace.steps.insert(step, at: 0)
        return response
    }

    /// Adds to a response what the request asks for besides the image.
    nonisolated(nonsending) private func complete(_ response: inout ImageResponse, for load: Load)
        async throws(EideticError)
    {
        // Made from another image in memory, or by another load meanwhile: the bytes were not needed for it.
        if response.data == nil, load.policy.includesBytes {
            response.encodedBytes = await loader.dataLoader.cachedBytes(for: load)
        }
        try await finishStorage(for: load, recordingIn: &response)
    }

    /// Waits until the bytes are on disk, if the request says so; those of an image in memory may be on their way.
    ///
    /// - Throws: `cancelled` as soon as the task is cancelled.
    nonisolated(nonsending) private func finishStorage(
        for load: Load,
        recordingIn response: inout ImageResponse
    ) async throws(EideticError) {
        let data = response.data
        response.data = nil
        guard load.policy.waitsForStorage, let data = data ?? loader.dataLoader.unstoredImage(for: load.request) else {
            return
        }
        let timer = StepTimer()
        response.storeError = try await data.storage?.waitUntilStored()
        guard data.storage?.isStorable == true else { return }
        let outcome = response.storeError.map { "failed: \($0)" } ?? "stored"
        response.trace.steps.append(timer.step(.store, detail: outcome))
    }
}

// MARK: Validation
extension LoadResponder {
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
            return try await loadedResponse(to: load, context: context, report: report)
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
        var response = try await loader.response(to: load, displaying: cached.image, context: context, report: report)
        guard response.isUnchanged else {
            try load.policy.check(response.image)
            try await complete(&response, for: load)
            response.revalidation = .changed
            return response
        }
        var unchanged = cached
        unchanged.trace.steps += response.trace.steps.suffix(1)
        unchanged.isTransferred = response.source == .network
        unchanged.revalidation = .unchanged
        try await finishStorage(for: load, recordingIn: &unchanged)
        return unchanged
    }

    /// Returns the image of a cache, however stale; `nil` if there is none that suits the request.
    private func cachedResponse(to load: Load, context: JobContext) async throws(EideticError) -> ImageResponse? {
        if let hit = try await memoryResponse(to: load) { return hit }
        do throws(EideticError) {
            return try await loadedResponse(to: load.from(.cacheOnlyAllowingStale), context: context)
        } catch  where [.cacheMiss, .unsupportedFormat].contains(error.code) {
            return nil
        }
    }

    /// Revalidates an image that is shown although it is stale (`stale-while-revalidate`).
    ///
    /// Loads that show the same image share one request.
    private func revalidateInBackground(_ load: Load, displayed: Image) {
        Task.detached(priority: .utility) { [loader] in
            let load = load.validating(isReload: false)
            let context = JobContext(priority: .low)
            do throws(EideticError) {
                _ = try await loader.response(to: load, displaying: displayed, context: context) { _ in }
            } catch {
                Log.write(.info, category: .pipeline, message: "\(load.request.name): not revalidated: \(error)")
            }
        }
    }
}
