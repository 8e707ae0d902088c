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
    /// A Boolean value indicating whether requests are loaded unprocessed.
    let isPlain: Bool
    let hasInterceptors: Bool
    private let gate = InteractionGate()

    /// Creates a pipeline.
    ///
    /// - Parameter configuration: Its parts and limits.
    public init(_ configuration: Configuration = .standard) {
        self.configuration = configuration
        isPlain = configuration.requestProcessors.isEmpty && configuration.sources.isEmpty
        hasInterceptors = !configuration.interceptors.isEmpty
        let memory =
            configuration.memoryCache
            ?? ImageMemoryCache(
                costLimit: configuration.memoryLimit,
                hooks: misses.hooks,
                tier: configuration.memoryTier
            )
        self.memory = memory
        let renditions = RenditionIndex(memory: memory)
        dataLoader = ImageDataLoader(configuration: configuration, gate: gate, renditions: renditions)
        let stage = DecodeStage(
            limits: configuration.decodeLimits,
            scaleDownLimit: configuration.scaleDownLimit,
            maximumConcurrentDecodes: configuration.maximumConcurrentDecodes,
            decodePolicies: DecodePolicies(
                standard: configuration.decodePolicy,
                ofHost: configuration.hostDecodePolicies
            )
        )
        let derived = DerivedImageStore(
            settings: configuration.derivedImages,
            disk: configuration.diskCache,
            mayWrite: configuration.serializer.isIdentity,
            stage: stage,
            memory: memory
        )
        imageLoader = ImageLoader(dataLoader: dataLoader, stage: stage, memory: memory, derived: derived, gate: gate)
        cache = ImageCache(tiersOf: configuration, memory: memory, loader: imageLoader)
        if configuration.memoryCache == nil {
            memory.observe(configuration.environment, backgroundBehavior: configuration.memoryBackgroundBehavior)
        }
    }

    deinit { isUserInteracting = false }

    /// Loads the image at a URL.
    ///
    /// - Throws: `cancelled` as soon as the calling task is cancelled; other callers of the same image still get it.
    public func image(for url: URL) async throws(EideticError) -> Image {
        try await image(for: ImageRequest(url: url))
    }

    /// Loads an image.
    ///
    /// - Throws: `cancelled` as soon as the calling task is cancelled; other callers of the same image still get it.
    public func image(for request: ImageRequest) async throws(EideticError) -> Image {
        if isPlain, !Task.isCancelled {
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
        return try await response(for: request).image
    }

    /// Loads an image, and returns it with its source and the trace of the load.
    ///
    /// - Throws: `cancelled` as soon as the calling task is cancelled; other callers of the same image still get it.
    public func response(for request: ImageRequest) async throws(EideticError) -> ImageResponse {
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

    /// Removes all images from memory; the disk cache keeps its entries.
    public func removeAllFromMemory() { memory.removeAll() }

    /// The number of bytes of the decoded images in memory.
    ///
    /// - Complexity: O(1).
    package var memoryUsage: ByteCount { memory.images.totalCost }
}
