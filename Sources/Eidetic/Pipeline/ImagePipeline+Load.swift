import EideticCodecs
import EideticCore
import EideticFetch

extension ImagePipeline {
    /// One load from its first step to its answer; every public form comes here.
    func load(
        _ request: ImageRequest,
        context: WorkContext,
        report: @escaping @Sendable (ImageEvent) -> Void
    ) async throws(EideticError) -> ImageResponse {
        counters.countLoad()
        do throws(EideticError) {
            let request = try processed(request)
            let response = try await intercepted(request, configuration.interceptors[...], context, report)
            counters.count(response)
            return response
        } catch {
            counters.count(error)
            Log.write(.info, .pipeline, "\(request.name): \(error)")
            throw error
        }
    }

    /// Lets the interceptors stand around the load, the first one outermost.
    private func intercepted(
        _ request: ImageRequest,
        _ interceptors: ArraySlice<any ImageInterceptor>,
        _ context: WorkContext,
        _ report: @escaping @Sendable (ImageEvent) -> Void
    ) async throws(EideticError) -> ImageResponse {
        guard let first = interceptors.first else { return try await answer(request, context, report) }
        return try await first.intercept(request) { [self] request async throws(EideticError) in
            try await intercepted(request, interceptors.dropFirst(), context, report)
        }
    }

    private func answer(
        _ request: ImageRequest,
        _ context: WorkContext,
        _ report: @escaping @Sendable (ImageEvent) -> Void
    ) async throws(EideticError) -> ImageResponse {
        try await covered(request) { [self] () async throws(EideticError) in
            let wantsBytes = request.options.contains(.queryMemoryData) && cachedImage(for: request) != nil
            let bytes = wantsBytes ? await originals.cachedBytes(for: request) : nil
            let hit = try memoryHit(request, bytes: bytes)
            if request.wantsRefresh { return try await refreshed(request, hit, context, report) }
            if let hit { return hit }
            return try await made(request, context, report)
        }
    }

    /// The events of one load whose priority `context` holds.
    func events(for request: ImageRequest, _ context: WorkContext) -> ImageEvents {
        ImageEvents { [self] report throws(EideticError) in
            try await load(request, context: context, report: report)
        }
    }

    /// What `load` would answer from memory without waiting for anything; `nil` where it would wait.
    func synchronousHit(_ request: ImageRequest) -> ImageResponse? {
        guard configuration.requestProcessors.isEmpty, configuration.interceptors.isEmpty,
            request.options.isDisjoint(with: [.queryMemoryData, .refreshCached]),
            let hit = try? memoryHit(request, bytes: nil)
        else { return nil }
        counters.countLoad()
        counters.count(hit)
        return hit
    }

    /// Brings the original to disk without decoding it, unless it is there.
    func bringToDisk(_ request: ImageRequest) async throws(EideticError) {
        let request = try processed(request)
        let context = WorkContext(priority: request.priority)
        let original = try await originals.original(for: request, context: context, onProgress: nil)
        guard try ImageDecoder.header(of: original.bytes) != nil else {
            throw EideticError(.truncated, "\(request.name) ends before its header is complete")
        }
        original.storeOnce()
        if let error = try await original.storeError() { throw error }
    }

    /// The request as the configuration's processors want it.
    private func processed(_ request: ImageRequest) throws(EideticError) -> ImageRequest {
        var request = request
        for process in configuration.requestProcessors { request = try process(request) }
        return request
    }

    private func memoryHit(_ request: ImageRequest, bytes: [UInt8]?) throws(EideticError) -> ImageResponse? {
        let timer = StepTimer()
        guard !request.options.contains(.fromLoaderOnly), let hit = memory.image(for: request.pictureKey) else {
            return nil
        }
        try check(hit, request.options)
        return ImageResponse(
            image: hit,
            source: .memory,
            byteCount: hit.encodedSize,
            originalBytes: bytes,
            storeError: nil,
            record: LoadRecord(steps: [timer.step(.memory, "hit")])
        )
    }

    func made(
        _ request: ImageRequest,
        _ context: WorkContext,
        _ report: @escaping @Sendable (ImageEvent) -> Void
    ) async throws(EideticError) -> ImageResponse {
        let miss = StepTimer().step(.memory, request.options.contains(.fromLoaderOnly) ? "not asked" : "miss")
        let picture = try await pictures.picture(for: request, context: context) { report(.progress($0)) }
        try check(picture.image, request.options)
        if picture.original?.needsRevalidation == true, !request.options.contains(.fromCacheOnly) {
            revalidateInBackground(request, picture.image)
        }
        var response = try await response(picture, request)
        response.record.steps.insert(miss, at: 0)
        return response
    }

    /// The answer that a picture just made becomes.
    func response(_ picture: LoadedPicture, _ request: ImageRequest) async throws(EideticError) -> ImageResponse {
        let waits = request.options.contains(.waitStoreCache)
        return ImageResponse(
            image: picture.image,
            source: picture.source,
            byteCount: picture.image.encodedSize,
            originalBytes: picture.original?.bytes,
            storeError: waits ? try await picture.original?.storeError() : nil,
            record: LoadRecord(steps: picture.steps)
        )
    }

    private func check(_ image: Image, _ options: ImageOptions) throws(EideticError) {
        guard options.contains(.matchAnimatedImage), !image.isAnimated else { return }
        throw EideticError(
            .unsupportedFormat,
            "an animated picture was asked for, and this \(image.format) has one frame"
        )
    }
}

extension ImageRequest {
    /// Whether the server is to be asked about a cached picture.
    var wantsRefresh: Bool {
        options.contains(.refreshCached) && options.isDisjoint(with: [.fromCacheOnly, .fromLoaderOnly])
    }
}
