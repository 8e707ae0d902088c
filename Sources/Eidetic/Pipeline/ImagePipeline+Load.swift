import EideticCore
import EideticFetch

/// The steps of a load, from the request to the response.
extension ImagePipeline {
    /// One load, as its steps hand it along.
    struct Job: Sendable {
        let request: ImageRequest
        let context: JobContext
        let report: @Sendable (ImageTask.Event) -> Void
    }

    /// A function that responds to a request for one file, after processors and interceptors.
    typealias Responder = @Sendable (ImageRequest) async throws(EideticError) -> ImageResponse

    /// Loads with the priority of `context`.
    func load(
        _ request: ImageRequest,
        context: JobContext,
        report: @escaping @Sendable (ImageTask.Event) -> Void
    ) async throws(EideticError) -> ImageResponse {
        try await load(request) { [self, initial = request.priority] request async throws(EideticError) in
            // Processors and interceptors may have changed the priority.
            if request.priority != initial { context.priority = request.priority }
            return try await respond(to: request, context: context, report: report)
        }
    }

    /// Processes a request, passes it through the interceptors, and counts the outcome.
    ///
    /// Every public function that may suspend calls this one.
    func load(
        _ request: ImageRequest,
        responder: @escaping Responder
    ) async throws(EideticError) -> ImageResponse {
        counters.countLoad()
        do throws(EideticError) {
            let request = try processed(request)
            if Task.isCancelled { throw EideticError.cancelled }
            let response = try await intercept(request, with: configuration.interceptors[...], responder: responder)
            counters.count(response)
            log(response, to: request)
            return response
        } catch {
            counters.count(error)
            Log.write(.info, category: .pipeline, message: "\(request.name): \(error)")
            throw error
        }
    }

    private func log(_ response: ImageResponse, to request: ImageRequest) {
        Log.write(
            .info,
            category: .pipeline,
            message: "\(request.name): \(response.image.size) from \(response.source)"
        )
        Log.write(
            .debug,
            category: .pipeline,
            message: "\(request.name): \(response.trace.description.split(separator: "\n").joined(separator: "; "))"
        )
    }

    /// Responds to the request for one file: from memory, else by a load.
    func respond(
        to request: ImageRequest,
        context: JobContext,
        report: @escaping @Sendable (ImageTask.Event) -> Void
    ) async throws(EideticError) -> ImageResponse {
        // Before a revalidation an unsuitable image in memory counts as a miss.
        var hit = request.requiresRevalidation ? try? memoryResponse(for: request) : try memoryResponse(for: request)
        if hit != nil, request.includesBytes { hit?.encodedBytes = await dataLoader.cachedBytes(for: request) }
        if request.requiresRevalidation {
            return try await revalidatedResponse(for: Job(request: request, context: context, report: report), hit: hit)
        }
        guard var hit else {
            return try await loadedResponse(for: Job(request: request, context: context, report: report))
        }
        try await waitForStorage(of: nil, for: request, recordingIn: &hit)
        return hit
    }

    /// Loads the image.
    ///
    /// - Parameters:
    ///   - job: The load.
    ///   - cachePolicy: The tiers to use; by default those that the request's options name.
    /// - Returns: The response.
    /// - Throws: The errors of the load; `unsupportedFormat` if an animation is required.
    func loadedResponse(
        for job: Job,
        cachePolicy: ImageDataLoader.CachePolicy? = nil
    ) async throws(EideticError) -> ImageResponse {
        let request = job.request, policy = cachePolicy ?? ImageDataLoader.CachePolicy(request)
        let miss = policy == .sourceOnly ? "not searched" : misses.explanation(for: request.imageKey)
        let step = StepTimer().step(.memory, detail: miss)
        let reportsPreviews = request.options.contains(.progressive)
        let output = try await imageLoader.image(for: request, cachePolicy: policy, context: job.context) { update in
            switch update {
            case .progress(let progress): job.report(.progress(progress))
            case .preview(let image): if reportsPreviews { job.report(.preview(image)) }
            }
        }
        try check(output.image, against: request.options)
        if output.encodedImage?.needsRevalidation == true, !request.options.contains(.fromCacheOnly) {
            revalidateInBackground(request, displayed: output.image)
        }
        var response = try await response(from: output, for: request)
        response.trace.steps.insert(step, at: 0)
        return response
    }

    /// Returns the response for a loaded image.
    func response(
        from output: ImageLoader.Output,
        for request: ImageRequest
    ) async throws(EideticError) -> ImageResponse {
        var response = ImageResponse(output)
        // Made from another image in memory, or by another load meanwhile: the bytes were not needed for it.
        if output.encodedImage == nil, request.includesBytes {
            response.encodedBytes = await dataLoader.cachedBytes(for: request)
        }
        try await waitForStorage(of: output.encodedImage, for: request, recordingIn: &response)
        return response
    }

    /// Waits until the bytes are on disk, with `waitStoreCache`.
    ///
    /// - Parameters:
    ///   - encodedImage: The bytes; `nil` for an image in memory, whose bytes may still be on their way to the disk.
    ///   - request: The request.
    ///   - response: The response that records the wait and its outcome.
    /// - Throws: `cancelled` as soon as the task is cancelled.
    func waitForStorage(
        of encodedImage: EncodedImage?,
        for request: ImageRequest,
        recordingIn response: inout ImageResponse
    ) async throws(EideticError) {
        guard request.options.contains(.waitStoreCache),
            let encodedImage = encodedImage ?? dataLoader.unstoredImage(for: request)
        else { return }
        let timer = StepTimer()
        response.storeError = try await encodedImage.waitForStorage()
        guard encodedImage.isStorable else { return }
        let outcome = response.storeError.map { "failed: \($0)" } ?? "stored"
        response.trace.steps.append(timer.step(.store, detail: outcome))
    }

    /// Checks that an image is animated if the options require it.
    func check(_ image: Image, against options: ImageOptions) throws(EideticError) {
        guard options.contains(.matchAnimatedImage), !image.isAnimated else { return }
        throw EideticError(
            .unsupportedFormat,
            message: "an animated image was requested, and this \(image.format) has one frame"
        )
    }
}

extension ImageRequest {
    /// A Boolean value indicating whether a response from memory must include the encoded bytes.
    var includesBytes: Bool { !options.isDisjoint(with: [.queryMemoryData, .queryMemoryDataSync]) }

    /// A Boolean value indicating whether a cached image must be revalidated.
    var requiresRevalidation: Bool {
        options.contains(.refreshCached) && options.isDisjoint(with: [.fromCacheOnly, .fromLoaderOnly])
            && !isOnlyIfCached
    }
}
