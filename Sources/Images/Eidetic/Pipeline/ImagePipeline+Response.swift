import EideticCore

/// The response to the request for one file.
extension ImagePipeline {
    /// Responds from memory, else by a load; with `refreshCached`, by a validation.
    func respond(to job: Job) async throws(EideticError) -> ImageResponse {
        let load = job.load, policy = load.policy
        // Before a revalidation an unsuitable image in memory counts as a miss.
        var hit = policy.revalidates ? try? memoryResponse(for: load.request) : try memoryResponse(for: load.request)
        if hit != nil, policy.includesBytes { hit?.encodedBytes = await dataLoader.cachedBytes(for: load) }
        guard !policy.revalidates else { return try await revalidatedResponse(for: job, hit: hit) }
        guard var hit else { return try await loadedResponse(for: job) }
        try await waitForStorage(of: nil, for: load, recordingIn: &hit)
        return hit
    }

    /// Loads the image.
    ///
    /// - Throws: The errors of the load; `unsupportedFormat` if an animation is required.
    func loadedResponse(for job: Job) async throws(EideticError) -> ImageResponse {
        let load = job.load, policy = load.policy
        let miss = policy.tiers == .sourceOnly ? "not searched" : misses.explanation(for: load.request.imageKey)
        let step = StepTimer().step(.memory, detail: miss)
        let output = try await imageLoader.image(for: load, context: job.context) { update in
            switch update {
            case .progress(let progress): job.report(.progress(progress))
            case .preview(let image): if policy.showsPreviews { job.report(.preview(image)) }
            }
        }
        try policy.check(output.image)
        if output.encodedImage?.needsRevalidation == true, policy.refreshesStale {
            revalidateInBackground(load, displayed: output.image)
        }
        var response = try await response(from: output, for: load)
        response.trace.steps.insert(step, at: 0)
        return response
    }

    /// Returns the response for a loaded image.
    private func response(
        from output: ImageLoader.Output,
        for load: Load
    ) async throws(EideticError) -> ImageResponse {
        var response = ImageResponse(output)
        // Made from another image in memory, or by another load meanwhile: the bytes were not needed for it.
        if output.encodedImage == nil, load.policy.includesBytes {
            response.encodedBytes = await dataLoader.cachedBytes(for: load)
        }
        try await waitForStorage(of: output.encodedImage, for: load, recordingIn: &response)
        return response
    }

    /// Waits until the bytes are on disk, with `waitStoreCache`.
    ///
    /// - Parameters:
    ///   - encodedImage: The bytes; `nil` for an image in memory, whose bytes may still be on their way to the disk.
    ///   - load: The load.
    ///   - response: The response that records the wait and its outcome.
    /// - Throws: `cancelled` as soon as the task is cancelled.
    private func waitForStorage(
        of encodedImage: EncodedImage?,
        for load: Load,
        recordingIn response: inout ImageResponse
    ) async throws(EideticError) {
        guard load.policy.waitsForStorage,
            let encodedImage = encodedImage ?? dataLoader.unstoredImage(for: load.request)
        else { return }
        let timer = StepTimer()
        response.storeError = try await encodedImage.waitForStorage()
        guard encodedImage.isStorable else { return }
        let outcome = response.storeError.map { "failed: \($0)" } ?? "stored"
        response.trace.steps.append(timer.step(.store, detail: outcome))
    }
}

// MARK: Validation
extension ImagePipeline {
    /// Reports the cached image, then revalidates it with its server (`refreshCached`).
    ///
    /// The response has the cached image if it is unchanged or the server cannot be reached; otherwise, the new one.
    private func revalidatedResponse(for job: Job, hit: ImageResponse?) async throws(EideticError) -> ImageResponse {
        guard let cached = try await cachedResponse(for: job, hit: hit) else {
            // If an animation is required, the cached bytes may be those of a still image.
            guard job.load.policy.requiresAnimation else { return try await loadedResponse(for: job) }
            let fromSource = Job(load: job.load.from(.sourceOnly), context: job.context, report: job.report)
            return try await loadedResponse(for: fromSource)
        }
        job.report(.cached(cached))
        let timer = StepTimer()
        do throws(EideticError) {
            return try await validatedResponse(for: job, cached: cached)
        } catch  where error.code != .cancelled {
            var cached = cached
            cached.trace.steps.append(timer.step(.network, detail: "failed: \(error)"))
            cached.revalidation = .failed(error)
            return cached
        }
    }

    private func validatedResponse(
        for job: Job,
        cached: ImageResponse
    ) async throws(EideticError) -> ImageResponse {
        let load = job.load.validating(isReload: true)
        let output = try await imageLoader.image(for: load, displaying: cached.image, context: job.context) { update in
            if case .progress(let progress) = update { job.report(.progress(progress)) }
        }
        guard output.isUnchanged else {
            try load.policy.check(output.image)
            var response = try await response(from: output, for: load)
            response.revalidation = .changed
            return response
        }
        var response = cached
        response.trace.steps += output.steps.suffix(1)
        (response.isTransferred, response.revalidation) = (output.source == .network, .unchanged)
        try await waitForStorage(of: nil, for: load, recordingIn: &response)
        return response
    }

    /// Returns the image of a cache, however stale; `nil` if there is none that suits the request.
    private func cachedResponse(for job: Job, hit: ImageResponse?) async throws(EideticError) -> ImageResponse? {
        if let hit { return hit }
        let offline = Job(load: job.load.from(.cacheOnlyAllowingStale), context: job.context) { _ in }
        do throws(EideticError) {
            return try await loadedResponse(for: offline)
        } catch  where [.cacheMiss, .unsupportedFormat].contains(error.code) {
            return nil
        }
    }

    /// Revalidates an image that is shown although it is stale (`stale-while-revalidate`).
    ///
    /// Loads that show the same image share one request.
    private func revalidateInBackground(_ load: Load, displayed: Image) {
        Task.detached(priority: .utility) { [imageLoader] in
            let load = load.validating(isReload: false), context = JobContext(priority: .low)
            do throws(EideticError) {
                _ = try await imageLoader.image(for: load, displaying: displayed, context: context, onUpdate: nil)
            } catch {
                Log.write(.info, category: .pipeline, message: "\(load.request.name): not revalidated: \(error)")
            }
        }
    }
}
