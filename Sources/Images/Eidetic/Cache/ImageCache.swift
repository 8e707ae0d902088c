public import EideticCore
import EideticFetch
public import EideticStore

/// A cache of images by key: decoded images in memory, and encoded ones on disk.
///
/// ```swift
/// let cache = ImageCache.shared
/// try await cache.insert(image, for: "avatar of 17")
/// let avatar = try await cache.image(for: "avatar of 17")
/// ```
///
/// The key of an image that a pipeline loads is the text of its URL, or is made from an ``ImageRequest``. A cache and a
/// pipeline with the same tiers find each other's images. A resized or transformed image that was inserted without the
/// bytes of its resource is used for that rendering only.
///
/// Asynchronous functions read and write on threads of the disk cache. They decode and encode on threads of the
/// pipeline or, without one, of this cache. The functions of ``blocking`` do all this on the calling thread, which must
/// not be the main thread.
public final class ImageCache: Sendable {
    /// The cache of the current ``ImagePipeline/shared``.
    public static var shared: ImageCache { ImagePipeline.shared.cache }

    /// The memory cache for decoded images.
    public let memory: ImageMemoryCache

    /// The disk cache for encoded images; `nil` if there is none.
    public let disk: DiskCache?

    /// The configuration that the cache was created with.
    package let configuration: Configuration

    /// The images in memory.
    let tier: MemoryTier
    /// The images on disk.
    let stored: StoredImages
    /// The downloader of the pipeline, which may keep parts of images; `nil` without a pipeline.
    let downloader: Downloader?
    package let lookups = TaskCoalescer<CacheLookup, Int, Hit?>()

    /// The stage that decodes; that of the pipeline, if the cache belongs to one.
    var stage: DecodeStage { stored.stage }

    /// Creates a cache over two tiers, which other caches and pipelines may share.
    ///
    /// - Parameters:
    ///   - memory: The memory cache.
    ///   - disk: The disk cache; none by default.
    ///   - configuration: The configuration.
    public convenience init(
        memory: ImageMemoryCache,
        disk: DiskCache? = nil,
        configuration: Configuration = Configuration()
    ) {
        self.init(
            memory: memory,
            configuration: configuration,
            stage: DecodeStage(configuration),
            renditions: RenditionIndex(memory: memory),
            rules: FreshnessRules(of: disk)
        )
    }

    /// Creates a cache for a namespace, with its own tiers.
    ///
    /// - Parameters:
    ///   - namespace: The name of the cache's directory; characters not allowed in file names become `_`.
    ///   - directory: The absolute path of the parent directory; by default the user's cache directory (XDG).
    ///   - configuration: The configuration.
    /// - Throws: The errors of opening a disk cache.
    public convenience init(
        namespace: String,
        in directory: String? = nil,
        configuration: Configuration = Configuration()
    ) throws(EideticError) {
        let environment = DefaultEnvironment.shared
        let given = directory.map { "\($0)/\(DiskCache.directoryName(of: namespace))" }
        let path = given ?? DiskCache.defaultDirectory(namespace: namespace)
        let disk = try DiskCache(DiskCache.Configuration(directory: path), environment: environment)
        let memory = ImageMemoryCache()
        memory.observe(environment)
        self.init(memory: memory, disk: disk, configuration: configuration)
    }

    private init(
        memory: ImageMemoryCache,
        configuration: Configuration,
        stage: DecodeStage,
        renditions: RenditionIndex,
        rules: FreshnessRules,
        downloader: Downloader? = nil
    ) {
        self.memory = memory
        self.configuration = configuration
        self.downloader = downloader
        disk = rules.disk
        stored = StoredImages(
            serializer: configuration.serializer,
            stage: stage,
            isDecoded: configuration.decodesOnRead,
            rules: rules
        )
        tier = MemoryTier(memory: memory, renditions: renditions, isFilled: configuration.keepsInMemory)
    }

    /// Creates a cache over the tiers of a pipeline, which decodes with the pipeline's limits and threads.
    convenience init(
        tiersOf pipeline: ImagePipeline.Configuration,
        configuration: Configuration = Configuration(),
        loader: ImageLoader
    ) {
        self.init(
            memory: loader.memory,
            configuration: pipeline.applied(to: configuration),
            stage: loader.stage,
            renditions: loader.renditions,
            rules: loader.dataLoader.disk.rules,
            downloader: pipeline.downloader
        )
    }
}

/// The identity of a look-up: those with equal keys share one read and one decode.
package struct CacheLookup: Hashable, Sendable {
    let imageKey: CacheKey
    let fillsMemory: Bool
}

extension ImagePipeline {
    /// Creates a cache over the tiers of this pipeline, with another configuration.
    ///
    /// The limits and threads for decoding are those of the pipeline. Most programs only need ``cache``.
    ///
    /// - Parameter configuration: The configuration of the cache.
    /// - Returns: A new cache.
    public func makeCache(configuration: ImageCache.Configuration) -> ImageCache {
        ImageCache(tiersOf: self.configuration, configuration: configuration, loader: imageLoader)
    }
}

extension ImagePipeline.Configuration {
    /// Returns the configuration of a cache over the tiers of the pipeline, which has its limits and threads.
    func applied(to cache: ImageCache.Configuration) -> ImageCache.Configuration {
        var configuration = cache
        if configuration.serializer.isIdentity { configuration.serializer = serializer }
        configuration.decodeLimits = decodeLimits
        configuration.scaleDownLimit = scaleDownLimit
        configuration.decodePolicy = decodePolicy
        configuration.maximumConcurrentDecodes = maximumConcurrentDecodes
        return configuration
    }
}
