public import EideticCore
public import EideticStore

/// Pictures in memory and on disk, put in and asked for by key.
///
/// ```swift
/// let cache = ImageCache.shared
/// try await cache.insert(image, for: "avatar of 17")
/// let avatar = try await cache.image(for: "avatar of 17")
/// ```
///
/// A URL's text is the key of the picture that a pipeline loads from it, and an ``ImageRequest`` makes the key of any
/// other: what a pipeline has stored is found here, and the reverse, where both use the same tiers. But on disk a pipeline
/// looks for originals alone: a smaller or changed picture that was put in here without the bytes of its original is found
/// on disk by caches, and by a pipeline only as long as it is in memory.
///
/// Synchronous functions that touch the disk block, and say so; they must not be called on the main actor. The
/// asynchronous forms read and write on threads of the disk cache, and decode and encode on threads of this one.
public final class ImageCache: Sendable {
    /// The cache of ``ImagePipeline/shared``; made on first use.
    public static let shared = ImagePipeline.shared.cache

    /// Decoded pictures.
    public let memory: ImageMemoryCache

    /// Encoded pictures; `nil` where nothing is kept on disk.
    public let disk: DiskCache?

    /// How it works.
    public let configuration: Configuration

    let pool: WorkPool
    package let lookups = TaskCoalescer<LookupKey, Int, Hit?>()
    /// How long a picture made of an entry stays fresh in memory; `nil` for as long as it is there.
    let timeToLive: @Sendable (DiskCache.Metadata) -> Duration?

    /// What two queries must have in common to be answered by one read and one decode.
    package struct LookupKey: Hashable, Sendable {
        let picture: CacheKey
        let fillsMemory: Bool
    }

    /// Creates a cache over two tiers, which others may use as well.
    public convenience init(
        memory: ImageMemoryCache,
        disk: DiskCache? = nil,
        configuration: Configuration = Configuration()
    ) {
        self.init(memory: memory, disk: disk, configuration: configuration) { _ in nil }
    }

    /// Creates a cache of its own for a namespace, below the user's cache directory or another one.
    ///
    /// - Parameters:
    ///   - namespace: Its name; characters that no file name can have become `_`.
    ///   - directory: An absolute path; by the rules of XDG by default.
    ///   - configuration: How it works.
    ///   - environment: Where it learns of memory pressure and the background, and takes background tasks.
    /// - Throws: What opening a disk cache throws.
    public convenience init(
        namespace: String,
        in directory: String? = nil,
        configuration: Configuration = Configuration(),
        environment: any ApplicationEnvironment = ForegroundEnvironment()
    ) throws(EideticError) {
        let own = directory.map { "\($0)/\(DiskCache.directoryName(of: namespace))" }
        let place = own ?? DiskCache.defaultDirectory(namespace: namespace)
        let disk = try DiskCache(DiskCache.Configuration(directory: place), environment: environment)
        let memory = ImageMemoryCache()
        memory.observe(environment)
        self.init(memory: memory, disk: disk, configuration: configuration)
    }

    init(
        memory: ImageMemoryCache,
        disk: DiskCache?,
        configuration: Configuration,
        freshness: @escaping @Sendable (DiskCache.Metadata) -> Duration?
    ) {
        self.memory = memory
        self.disk = disk
        self.configuration = configuration
        self.timeToLive = freshness
        pool = WorkPool(name: "eidetic cache", maximumThreadCount: configuration.maximumConcurrentDecodes)
    }
}

extension ImagePipeline {
    /// The tiers of this pipeline as a cache: what it has stored is found there, and what is put in there is loaded from
    /// there, on disk as far as it is an original.
    ///
    /// Each call makes another object over the same tiers.
    public var cache: ImageCache { makeCache(configuration: ImageCache.Configuration()) }

    /// The tiers of this pipeline as a cache that works in another way.
    public func makeCache(configuration: ImageCache.Configuration) -> ImageCache {
        var configuration = configuration
        configuration.decodeLimits = self.configuration.decodeLimits
        configuration.scaleDownLimit = self.configuration.scaleDownLimit
        return ImageCache(memory: memory, disk: self.configuration.diskCache, configuration: configuration) {
            [originals] metadata in
            originals.freshFor(metadata)
        }
    }
}
