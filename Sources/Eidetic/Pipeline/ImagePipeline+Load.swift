import EideticCodecs
import EideticCore
import EideticFetch

extension ImagePipeline {
    /// Gives the answer for one file, once processors and interceptors have had their say.
    typealias FileAnswer = @Sendable (ImageRequest) async throws(EideticError) -> ImageResponse

    /// Loads as urgently as `context` says.
    func load(
        _ request: ImageRequest,
        context: JobContext,
        report: @escaping @Sendable (ImageTaskEvent) -> Void
    ) async throws(EideticError) -> ImageResponse {
        try await load(request) { [self, given = request.priority] file async throws(EideticError) in
            // Processors and interceptors may find it more urgent, or less so.
            if file.priority != given { context.priority = file.priority }
            return try await fileAnswer(file, context, report)
        }
    }

    /// One load from its first step to its answer; every public form that may wait comes here.
    func load(_ request: ImageRequest, _ body: @escaping FileAnswer) async throws(EideticError) -> ImageResponse {
        counters.countLoad()
        do throws(EideticError) {
            let request = try processed(request)
            if Task.isCancelled { throw EideticError.cancelled }
            let response = try await intercepted(request, configuration.interceptors[...], body)
            counters.count(response)
            return response
        } catch {
            counters.count(error)
            Log.write(.info, category: .pipeline, message: "\(request.name): \(error)")
            throw error
        }
    }

    /// Lets the interceptors stand around the load, the first one outermost.
    private func intercepted(
        _ request: ImageRequest,
        _ interceptors: ArraySlice<any ImageInterceptor>,
        _ body: @escaping FileAnswer
    ) async throws(EideticError) -> ImageResponse {
        guard let first = interceptors.first else {
            return try await covered(request) { [self] () async throws(EideticError) in
                try await answer(request, body)
            }
        }
        return try await first.intercept(request) { [self] request async throws(EideticError) in
            try await intercepted(request, interceptors.dropFirst(), body)
        }
    }

    /// The answer for one file: from memory, else made.
    func fileAnswer(
        _ request: ImageRequest,
        _ context: JobContext,
        _ report: @escaping @Sendable (ImageTaskEvent) -> Void
    ) async throws(EideticError) -> ImageResponse {
        // What does not serve is as good as none where the server is asked anyway.
        var hit = request.wantsRefresh ? try? memoryHit(request) : try memoryHit(request)
        if hit != nil, request.wantsBytes { hit?.encodedBytes = await originals.cachedBytes(for: request) }
        if request.wantsRefresh { return try await refreshed(request, hit, context, report) }
        guard var hit else { return try await made(request, context, report) }
        try await waitForStore(of: nil, request, &hit)
        return hit
    }

    /// The events of one load whose priority `context` holds.
    func events(for request: ImageRequest, _ context: JobContext) -> ImageTaskEvents {
        ImageTaskEvents { [self] report throws(EideticError) in
            try await load(request, context: context, report: report)
        }
    }

    /// What `load` would answer without waiting for another thread; `nil` where it would wait.
    func synchronousHit(_ request: ImageRequest) -> ImageResponse? {
        guard let request = loadedAtOnce(request), let hit = answerAtOnce(request) else { return nil }
        counters.countLoad()
        counters.count(hit)
        return hit
    }

    /// Whether a new load would be answered from memory without waiting.
    func isAnsweredAtOnce(_ request: ImageRequest) -> Bool {
        loadedAtOnce(request).flatMap { try? memoryHit($0) } != nil
    }

    /// The request as it is loaded, where nobody needs to wait for that.
    private func loadedAtOnce(_ request: ImageRequest) -> ImageRequest? {
        guard configuration.interceptors.isEmpty, let request = try? processed(request),
            request.options.isDisjoint(with: [.queryMemoryData, .refreshCached])
        else { return nil }
        guard request.options.contains(.waitStoreCache) else { return request }
        return originals.unstored(cachedVariant(request)?.file ?? request) == nil ? request : nil
    }

    private func answerAtOnce(_ request: ImageRequest) -> ImageResponse? {
        if var hit = try? memoryHit(request) {
            if request.options.contains(.queryMemoryDataSync) {
                hit.encodedBytes = originals.cachedBytesAtOnce(for: cachedVariant(request)?.file ?? request)
            }
            return hit
        }
        guard request.options.contains(.queryDiskDataSync), !request.options.contains(.fromLoaderOnly),
            let picture = sufficientFiles(request).lazy.compactMap({ self.pictures.pictureAtOnce(for: $0) }).first,
            (try? check(picture.image, request.options)) != nil
        else { return nil }
        return ImageResponse(picture)
    }

    /// The request as the configuration's processors want it.
    func processed(_ request: ImageRequest) throws(EideticError) -> ImageRequest {
        var request = request
        for process in configuration.requestProcessors { request = try process(request) }
        return request
    }

    private func memoryHit(_ request: ImageRequest) throws(EideticError) -> ImageResponse? {
        let timer = StepTimer()
        guard let image = hitImage(request) else { return nil }
        try check(image, request.options)
        return ImageResponse(hit: image, timer.step(.memory, detail: "hit"), bytes: nil)
    }

    private func hitImage(_ request: ImageRequest) -> Image? {
        request.options.contains(.fromLoaderOnly)
            ? nil : memory.decodedImage(for: request.imageKey) ?? cachedVariant(request)?.image
    }

    /// Makes the picture, by the route of the request's options unless another is given.
    func made(
        _ request: ImageRequest,
        route: ImageDataLoader.CachePolicy? = nil,
        _ context: JobContext,
        _ report: @escaping @Sendable (ImageTaskEvent) -> Void
    ) async throws(EideticError) -> ImageResponse {
        let route = route ?? ImageDataLoader.CachePolicy(request.options), isAsked = route != .originOnly
        let miss = StepTimer().step(.memory, detail: isAsked ? misses.explanation(for: request.imageKey) : "not asked")
        let showsPreviews = request.options.contains(.progressive)
        let picture = try await pictures.picture(for: request, route: route, context: context) { news in
            switch news {
            case .progress(let progress): report(.progress(progress))
            case .preview(let image): if showsPreviews { report(.preview(image)) }
            }
        }
        try check(picture.image, request.options)
        if picture.original?.needsRevalidation == true, !request.options.contains(.fromCacheOnly) {
            revalidateInBackground(request, picture.image)
        }
        var response = try await response(picture, request)
        response.trace.steps.insert(miss, at: 0)
        return response
    }

    /// The answer that a picture just made becomes.
    func response(_ picture: Output, _ request: ImageRequest) async throws(EideticError) -> ImageResponse {
        var response = ImageResponse(picture)
        // Made of another picture in memory, or by somebody else in between: there was no need for the bytes.
        if picture.original == nil, request.wantsBytes {
            response.encodedBytes = await originals.cachedBytes(for: request)
        }
        try await waitForStore(of: picture.original, request, &response)
        return response
    }

    /// With `waitStoreCache`, waits until the original is on disk: for a picture from memory, the one on its way there.
    func waitForStore(
        of original: EncodedImage?,
        _ request: ImageRequest,
        _ response: inout ImageResponse
    ) async throws(EideticError) {
        guard request.options.contains(.waitStoreCache), let original = original ?? originals.unstored(request)
        else { return }
        let timer = StepTimer()
        response.storeError = try await original.storeError()
        guard original.belongsOnDisk else { return }
        response.trace.steps.append(timer.step(.store, detail: response.storeError.map { "failed: \($0)" } ?? "stored"))
    }

    func check(_ image: Image, _ options: ImageOptions) throws(EideticError) {
        guard options.contains(.matchAnimatedImage), !image.isAnimated else { return }
        throw EideticError(
            .unsupportedFormat,
            message: "an animated picture was asked for, and this \(image.format) has one frame"
        )
    }
}

extension ImageRequest {
    /// Whether the encoded bytes are to come also with a picture from memory.
    var wantsBytes: Bool { !options.isDisjoint(with: [.queryMemoryData, .queryMemoryDataSync]) }

    /// Whether the server is to be asked about a cached picture.
    var wantsRefresh: Bool {
        options.contains(.refreshCached) && options.isDisjoint(with: [.fromCacheOnly, .fromLoaderOnly])
    }
}

extension ImageResponse {
    /// The answer of the memory cache.
    fileprivate init(hit image: Image, _ step: LoadTrace.Step, bytes: [UInt8]?) {
        self.init(
            image: image,
            source: .memory,
            byteCount: image.encodedSize,
            originalBytes: bytes,
            record: LoadTrace(steps: [step])
        )
    }

    init(_ picture: Output) {
        self.init(
            image: picture.image,
            header: picture.header,
            source: picture.source,
            byteCount: picture.image.encodedSize,
            originalBytes: picture.original?.bytes,
            record: LoadTrace(steps: picture.steps)
        )
    }
}
