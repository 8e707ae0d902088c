import EideticCore

extension ImagePipeline {
    /// Reports the cached image, then revalidates it with its server (`refreshCached`).
    ///
    /// The response has the cached image if it is unchanged or the server cannot be reached; otherwise, the new one.
    func revalidatedResponse(
        for job: Job,
        hit: ImageResponse?
    ) async throws(EideticError) -> ImageResponse {
        guard var cached = try await cachedResponse(for: job, hit: hit) else {
            // If an animation is required, the cached bytes may be those of a still image.
            let requiresAnimation = job.request.options.contains(.matchAnimatedImage)
            return try await loadedResponse(for: job, cachePolicy: requiresAnimation ? .sourceOnly : nil)
        }
        job.report(.cached(cached))
        let timer = StepTimer()
        do throws(EideticError) {
            return try await revalidatedResponse(for: job, cached: &cached)
        } catch  where error.code != .cancelled {
            cached.trace.steps.append(timer.step(.network, detail: "failed: \(error)"))
            cached.revalidation = .failed(error)
            return cached
        }
    }

    private func revalidatedResponse(
        for job: Job,
        cached: inout ImageResponse
    ) async throws(EideticError) -> ImageResponse {
        let (request, context) = (job.request, job.context)
        let result = try await imageLoader.revalidate(
            request,
            displayed: cached.image,
            isReload: true,
            context: context
        ) {
            job.report(.progress($0))
        }
        switch result {
        case .unchanged(let step, let isTransferred):
            cached.trace.steps.append(step)
            cached.isTransferred = isTransferred
            cached.revalidation = .unchanged
            try await waitForStorage(of: nil, for: request, recordingIn: &cached)
            return cached
        case .changed(let output):
            try check(output.image, against: request.options)
            var response = try await response(from: output, for: request)
            response.revalidation = .changed
            return response
        }
    }

    /// Returns the image of a cache, however stale; `nil` if there is none that suits the request.
    private func cachedResponse(
        for job: Job,
        hit: ImageResponse?
    ) async throws(EideticError) -> ImageResponse? {
        if let hit { return hit }
        let options = job.request.options.union(.fromCacheOnly).subtracting(.refreshCached)
        let offline = Job(request: job.request.with(options: options), context: job.context) { _ in }
        do throws(EideticError) {
            return try await loadedResponse(for: offline, cachePolicy: .cacheOnlyAllowingStale)
        } catch  where [.cacheMiss, .unsupportedFormat].contains(error.code) {
            return nil
        }
    }

    /// Revalidates an image that is shown although it is stale (`stale-while-revalidate`).
    ///
    /// Loads that show the same image share one request.
    func revalidateInBackground(_ request: ImageRequest, displayed: Image) {
        Task.detached(priority: .utility) { [imageLoader] in
            do throws(EideticError) {
                let context = JobContext(priority: .low)
                _ = try await imageLoader.revalidate(
                    request,
                    displayed: displayed,
                    isReload: false,
                    context: context,
                    onProgress: nil
                )
            } catch {
                Log.write(.info, category: .pipeline, message: "\(request.name): not revalidated: \(error)")
            }
        }
    }
}
