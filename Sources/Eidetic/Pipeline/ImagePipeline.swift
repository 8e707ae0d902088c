public import EideticCore
import EideticStore
public import struct FoundationEssentials.URL

/// Loads pictures: from memory, from disk, else from the network, once for all who want the same.
///
/// ```swift
/// let image = try await ImagePipeline.shared.image(for: url)
/// ```
///
/// The steps of a load are memory → disk → network → decode → transform → deliver, and store. Each piece of work is a
/// job with a full identity that all who want it share; the last one who leaves cancels it.
public final class ImagePipeline: Sendable {
    /// The pipeline that programs use unless they make their own; made on first use.
    public static let shared = ImagePipeline(.standard)

    /// The parts and limits it was made with.
    public let configuration: Configuration

    let memory: ImageMemoryCache
    let originals: ImageDataLoader
    let pictures: ImageLoader
    let refresher: Refresher
    let counters = Counters()
    let misses = MissReasons()
    private let gate = InteractionGate()
    /// Whether requests are loaded as they are.
    private let isPlain: Bool

    /// Creates a pipeline.
    public init(_ configuration: Configuration = .standard) {
        self.configuration = configuration
        isPlain = configuration.requestProcessors.isEmpty
        let memory =
            configuration.memoryCache ?? ImageMemoryCache(costLimit: configuration.memoryLimit, hooks: misses.hooks)
        self.memory = memory
        originals = ImageDataLoader(configuration, gate, RenditionIndex(memory))
        pictures = ImageLoader(configuration, gate, originals: originals, memory: memory)
        refresher = Refresher(configuration, gate, originals, pictures)
        if configuration.memoryCache == nil {
            memory.observe(configuration.environment, backgroundBehavior: configuration.memoryBackgroundBehavior)
        }
    }

    deinit { isUserInteracting = false }

    /// Loads the picture at `url`.
    public func image(for url: URL) async throws(EideticError) -> Image {
        try await image(for: ImageRequest(url: url))
    }

    /// Loads a picture.
    public func image(for request: ImageRequest) async throws(EideticError) -> Image {
        try await response(for: request).image
    }

    /// Loads a picture and says where it came from.
    ///
    /// Throws `cancelled` as soon as the calling task is cancelled; the others who want the same picture still get it.
    public func response(for request: ImageRequest) async throws(EideticError) -> ImageResponse {
        try await load(request, context: JobContext(priority: request.priority)) { _ in }
    }

    /// Loads a picture and tells how it goes on; the sequence ends with exactly one terminal event.
    public func events(for request: ImageRequest) -> ImageTaskEvents {
        events(for: request, JobContext(priority: request.priority))
    }

    /// The picture if it is in memory now; returns at once, on any thread.
    ///
    /// - Complexity: O(1); takes no lock for long, allocates nothing; O(*n*) and a request for each where the picture is
    ///   there in *n* files. Request processors are called where there are any.
    public func cachedImage(for request: ImageRequest) -> Image? {
        guard !isPlain else { return memory.decodedImage(for: request.imageKey) ?? cachedVariant(request)?.image }
        return (try? processed(request)).flatMap { memory.decodedImage(for: $0.imageKey) ?? cachedVariant($0)?.image }
    }

    /// Whether the user scrolls or drags; loads of low priority then wait before each of their steps (L22).
    ///
    /// Their downloads that run already take no bytes meanwhile, whichever pipeline of the same downloader they are of.
    /// What the application itself has suspended (`Downloader.suspend(_:)`) stays so at the end.
    public var isUserInteracting: Bool {
        get { gate.isClosed }
        set {
            guard gate.setClosed(newValue) else { return }
            let downloader = configuration.downloader
            if newValue { downloader.beginInteraction() } else { downloader.endInteraction() }
        }
    }

    /// The largest picture of the same bytes that is in memory now, in whatever size; to be shown until a better comes.
    public func cachedPreview(for request: ImageRequest) -> Image? {
        guard let request = try? processed(request) else { return nil }
        return request.baseKey.flatMap { memory.largestImage(forBase: $0) } ?? cachedVariantPreview(request)
    }

    /// Forgets all pictures in memory; the disk keeps its own.
    public func removeAllFromMemory() { memory.images.removeAll() }
}
