public import EideticCore
import EideticFetch
import EideticStore
public import struct FoundationEssentials.URL

/// A pipeline that loads images from memory, from disk, or from the network; equal loads are coalesced.
///
/// ```swift
/// let image = try await ImagePipeline.shared.image(for: url)
/// ```
///
/// The steps of a load are memory → disk → network → decode → transform → deliver, and store. Loads with the same key
/// share the job of each step, which is cancelled when the last of them is cancelled.
public final class ImagePipeline: Sendable {
    /// The configuration that the pipeline was created with.
    public let configuration: Configuration

    /// The tiers of the pipeline as a cache.
    ///
    /// Cache and pipeline share their contents: each finds the images that the other has stored.
    public let cache: ImageCache

    let memory: ImageMemoryCache
    let dataLoader: ImageDataLoader
    let imageLoader: ImageLoader
    let counters = Counters()
    let misses = MissReasons()
    let localFiles = LocalFileStates()
    let processors: RequestProcessors
    let hasInterceptors: Bool
    private let gate = InteractionGate()

    /// Creates a pipeline.
    ///
    /// - Parameter configuration: Its parts and limits.
    public init(_ configuration: Configuration = .standard) {
        self.configuration = configuration
        processors = RequestProcessors(configuration)
        hasInterceptors = !configuration.interceptors.isEmpty
        let memory =
            configuration.memoryCache
            ?? ImageMemoryCache(
                costLimit: configuration.memoryLimit,
                hooks: misses.hooks,
                tier: configuration.memoryTier
            )
        self.memory = memory
        imageLoader = ImageLoader(configuration, memory: memory, misses: misses, gate: gate)
        dataLoader = imageLoader.dataLoader
        cache = ImageCache(tiersOf: configuration, loader: imageLoader)
        if configuration.memoryCache == nil {
            memory.observe(configuration.environment, backgroundBehavior: configuration.memoryBackgroundBehavior)
        }
    }

    deinit { isUserInteracting = false }

    /// Loads the image at a URL.
    ///
    /// - Throws: `cancelled` as soon as the calling task is cancelled; other callers of the same image still get it.
    nonisolated(nonsending) public func image(for url: URL) async throws(EideticError) -> Image {
        try await image(for: ImageRequest(url: url))
    }

    /// Loads an image.
    ///
    /// - Throws: `cancelled` as soon as the calling task is cancelled; other callers of the same image still get it.
    nonisolated(nonsending) public func image(for request: ImageRequest) async throws(EideticError) -> Image {
        if processors.isEmpty, !Task.isCancelled {
            let timer = StepTimer()
            if let image = completingHit(for: request) {
                counters.countMemoryHit(image, after: timer.elapsed)
                Log.write(
                    .info,
                    category: .pipeline,
                    message: "\(request.name): \(image.size) from \(ImageSource.memory)"
                )
                return image
            }
        }
        return try await load(prepare(request), context: JobContext(priority: request.priority)).image
    }

    /// Loads an image, and returns it with its source and the trace of the load.
    ///
    /// - Throws: `cancelled` as soon as the calling task is cancelled; other callers of the same image still get it.
    nonisolated(nonsending) public func response(for request: ImageRequest) async throws(EideticError) -> ImageResponse
    {
        try await load(prepare(request), context: JobContext(priority: request.priority))
    }

    /// A Boolean value indicating whether the user scrolls or drags.
    ///
    /// While it is `true`, loads of low priority wait before each of their steps, and their active downloads are
    /// paused. This applies to all pipelines with the same downloader. Downloads that the application has suspended
    /// itself (`Downloader.suspend(upTo:)`) stay suspended when the value becomes `false`.
    public var isUserInteracting: Bool {
        get { gate.isClosed }
        set {
            guard gate.setClosed(newValue) else { return }
            let downloader = configuration.downloader
            if newValue { downloader.beginInteraction() } else { downloader.endInteraction() }
        }
    }

    /// Cancels all loads that are in progress; each of their callers gets `cancelled`.
    ///
    /// Pending disk writes of delivered images continue, and later loads are not affected.
    public func cancelAll() { imageLoader.cancelAll() }

    /// The number of bytes of the decoded images in memory.
    ///
    /// - Complexity: O(1).
    package var memoryUsage: ByteCount { memory.images.totalCost }
}

extension EideticError {
    /// Returns the error with a message that names the URL or the file; a codec, for example, does not know it.
    fileprivate func naming(_ resource: ImageRequest.Resource) -> EideticError {
        switch resource.kind {
        case .bytes, .invalid: return self
        default: break
        }
        guard code != .cancelled, !message.contains(resource.name) else { return self }
        return replacingMessage(with: "\(resource.name): \(message)")
    }
}

// MARK: Loading
/// The way of a load: prepare (processors) → load (count, log) → route (interceptors, background task) → `ImageLoader`.
extension ImagePipeline {
    /// A function that is told what happens until a load ends.
    package typealias Report = @Sendable (ImageTask.Event) -> Void

    /// A function that responds to a request for one file, after processors and interceptors.
    private typealias Responder = @Sendable (Load) async throws(EideticError) -> ImageResponse

    /// Calls the configuration's request processors, the first one first.
    ///
    /// Every load begins here, so that each processor runs once, whether memory has the image or not.
    package func prepare(_ request: ImageRequest) -> PreparedLoad { processors.prepare(request) }

    /// Loads with the priority of `context`, and counts the outcome.
    ///
    /// Every public function that may suspend calls this one. A prefetch to `destination` keeps its priority, whatever
    /// processors and interceptors set.
    package func load(
        _ prepared: PreparedLoad,
        context: JobContext,
        prefetchingTo destination: ImagePrefetcher.Destination? = nil,
        report: @escaping Report = { _ in }
    ) async throws(EideticError) -> ImageResponse {
        let (loader, initialPriority) = (imageLoader, prepared.request.priority)
        counters.countLoad()
        do throws(EideticError) {
            let request = try prepared.processed()
            if Task.isCancelled { throw EideticError.cancelled }
            let response = try await route(request, through: configuration.interceptors[...]) {
                load async throws(EideticError) in
                switch destination {
                case .disk: return try await loader.storedResponse(to: load, context: context)
                case .transfers: return try await loader.transferredResponse(to: load, context: context)
                case .memory: break
                case nil:
                    if load.request.priority != initialPriority { context.priority = load.request.priority }
                }
                return try await loader.respond(to: load, context: context, report: report)
            }
            counters.count(response)
            response.log(to: request)
            return response
        } catch {
            counters.count(error)
            let error = error.naming(prepared.request.resource)
            Log.write(.info, category: .pipeline, message: "\(prepared.request.name): \(error)")
            throw error
        }
    }

    /// Passes a request through the interceptors, the first one outermost, then looks up the state of a local file and
    /// opens the background task.
    private func route(
        _ request: ImageRequest,
        through interceptors: ArraySlice<any ImageInterceptor>,
        to responder: @escaping Responder
    ) async throws(EideticError) -> ImageResponse {
        if let interceptor = interceptors.first {
            return try await interceptor.intercept(request) { [self] request async throws(EideticError) in
                try await route(request, through: interceptors.dropFirst(), to: responder)
            }
        }
        if case .invalid(_, let error) = request.resource.kind { throw error }
        let load = Load(try await examined(request))
        guard load.policy.options.contains(.continueInBackground) else { return try await responder(load) }
        let background = BackgroundLoad { [weak dataLoader] in await dataLoader?.handOver(load) }
        return try await background.run(named: "load \(request.name)", in: configuration.environment) {
            () async throws(EideticError) in
            try await responder(load)
        }
    }

    /// Returns a request with the present state of its file, if it is for one.
    private func examined(_ request: ImageRequest) async throws(EideticError) -> ImageRequest {
        guard case .file(let file) = request.resource.kind, file.version == nil else { return request }
        let examined = try await dataLoader.source.source.examined(file)
        localFiles.record(examined)
        var request = request
        request.resource = ImageRequest.Resource(.file(examined))
        return request
    }
}
