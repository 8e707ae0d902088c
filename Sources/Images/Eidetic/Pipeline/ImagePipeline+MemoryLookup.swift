public import EideticCore
import EideticFetch
import EideticStore

/// The memory cache, searched before anything else: synchronously, on the caller's thread.
extension ImagePipeline {
    /// Returns the image if it is in memory now; returns at once, on any thread.
    ///
    /// For the text of a `file:` URL it is the image of the file as the newest load found it.
    ///
    /// - Complexity: O(1), with one short lock and without allocation. The configuration's request processors are
    ///   called as well.
    public func cachedImage(for request: ImageRequest) -> Image? {
        // A copy of the request would take longer than the look-up.
        if isPlain, recentState(of: request) == nil { return imageInMemory(for: request) }
        return (try? processed(request)).flatMap { imageInMemory(for: recentlyExamined($0)) }
    }

    /// Returns the largest image of the same bytes that is in memory now, whatever its size.
    ///
    /// It can be shown until the requested image is loaded.
    public func cachedPreview(for request: ImageRequest) -> Image? { cachedPreview(for: prepare(request)) }

    /// Returns the image in memory of a load; see ``cachedImage(for:)``.
    func cachedImage(for load: PreparedLoad) -> Image? {
        (try? load.processed()).flatMap { imageInMemory(for: recentlyExamined($0)) }
    }

    /// Returns the largest image in memory of a load; see ``cachedPreview(for:)``.
    func cachedPreview(for load: PreparedLoad) -> Image? {
        guard let request = (try? load.processed()).map({ recentlyExamined($0) }) else { return nil }
        return request.baseKey.flatMap { memory.largestImage(forBase: $0) }
    }

    /// Returns the image of a load that the disk has, however stale; `nil` if it has none that can be decoded.
    func storedPreview(for load: PreparedLoad) async -> Image? {
        guard let request = try? load.processed(), request.resource.isStoredOnDisk else { return nil }
        let load = Load(request).from(.cacheOnlyAllowingStale)
        let job = Job(load: load, context: JobContext(priority: request.priority)) { _ in }
        return try? await loadedResponse(for: job).image
    }

    private func imageInMemory(for request: ImageRequest) -> Image? {
        guard request.allowsMemory else { return nil }
        return memory.decodedImage(for: request.imageKey)
    }
}

// MARK: Responses
extension ImagePipeline {
    /// Returns the image of a load that memory completes, and counts it; `nil` if the load needs more.
    ///
    /// The awaited forms of a load call it first: it neither suspends nor allocates.
    func imageAtOnce(for request: ImageRequest) -> Image? {
        guard !hasInterceptors, LoadPolicy.isMemoryEnough(for: request), !Task.isCancelled else { return nil }
        let timer = StepTimer()
        guard let image = imageInMemory(for: request) else { return nil }
        counters.countMemoryHit(image, after: timer.elapsed)
        Log.write(.info, category: .pipeline, message: "\(request.name): \(image.size) from \(ImageSource.memory)")
        return image
    }

    /// Returns the response of a load that needs no other thread; otherwise, `nil`.
    func synchronousResponse(for load: PreparedLoad) -> ImageResponse? {
        guard !hasInterceptors,
            let response = load.withRequest({ isAnswered(withoutWaiting: $0) ? try? memoryResponse(for: $0) : nil })
        else { return nil }
        counters.countLoad()
        counters.count(response)
        return response
    }

    /// Returns whether a new load would be answered from memory before its call returns.
    func respondsSynchronously(to load: PreparedLoad) -> Bool {
        guard !hasInterceptors else { return false }
        return load.withRequest { isAnswered(withoutWaiting: $0) ? try? memoryResponse(for: $0) : nil } != nil
    }

    /// Returns the response from memory; `nil` if the image is not there.
    ///
    /// - Throws: `unsupportedFormat` if the image in memory is not animated, and the options require that.
    func memoryResponse(for request: ImageRequest) throws(EideticError) -> ImageResponse? {
        let timer = StepTimer()
        guard LoadPolicy.searchesMemory(for: request), let image = imageInMemory(for: request) else { return nil }
        try LoadPolicy.check(image, for: request)
        return ImageResponse(fromMemory: image, step: timer.step(.memory, detail: "hit"))
    }

    /// Returns whether a request needs nothing that only a load that suspends can do.
    private func isAnswered(withoutWaiting request: ImageRequest) -> Bool {
        guard LoadPolicy.allowsSynchronousResponse(request.options) else { return false }
        guard LoadPolicy.waitsForStorage(request.options) else { return true }
        return dataLoader.unstoredImage(for: request) == nil
    }
}

extension ImageResponse {
    /// Creates the response for an image in memory.
    fileprivate init(fromMemory image: Image, step: LoadTrace.Step) {
        self.init(
            image: image,
            source: .memory,
            byteCount: image.encodedSize,
            encodedBytes: nil,
            trace: LoadTrace(steps: [step])
        )
    }

    /// Creates the response for a loaded image.
    init(_ output: ImageLoader.Output) {
        self.init(
            image: output.image,
            header: output.header,
            source: output.source,
            byteCount: output.image.encodedSize,
            encodedBytes: output.encodedImage?.bytes,
            trace: LoadTrace(steps: output.steps),
            isDerived: output.isDerived
        )
    }
}
