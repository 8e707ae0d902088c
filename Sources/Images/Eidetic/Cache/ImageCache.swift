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

    package let configuration: Configuration

    let tier: MemoryTier
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

    /// Writes the encoded bytes of a resource on disk to a separate file, for programs that need a path.
    ///
    /// The file at ``path(for:)`` ends with data of the cache, has no extension, and may be evicted. The new file has
    /// only the encoded bytes, and the extension of their format. It belongs to the caller, who must remove it. Its
    /// name depends only on the key; an existing file is replaced atomically.
    ///
    /// - Parameters:
    ///   - key: The image's key; its rendering is ignored.
    ///   - directory: The path of the directory; it is created with mode 0700 if it is missing.
    /// - Returns: The path of the file; `nil` if the disk does not have the resource.
    /// - Throws: The errors of reading and writing, and `cancelled`.
    nonisolated(nonsending) public func writeFile(
        for key: Key,
        to directory: String
    ) async throws(EideticError) -> String? {
        guard let disk else { return nil }
        let (text, serializer) = (resolved(key).text, stored.serializer)
        return try await disk.lookup.load { lookup throws(EideticError) in
            guard let entry = try lookup.read(text) else { return nil }
            let bytes = try serializer.decoded(entry).bytes
            var path = "\(directory)/\(disk.path(for: text).fileName)"
            if case .format(let format) = ImageFormat.detect(in: bytes, isComplete: true) {
                path += ".\(format.fileExtension)"
            }
            let files = FileSystem()
            do throws(SystemError) {
                try files.makeDirectories(directory)
                try files.replaceContents(of: path, with: bytes)
                return path
            } catch {
                throw EideticError(error)
            }
        }
    }

    /// The key of an image: the name of its resource, and its rendering.
    ///
    /// Creating a key hashes its text; a look-up in memory with an existing key takes some nanoseconds.
    public struct Key: Sendable, Hashable, ExpressibleByStringInterpolation {
        package let text: String

        package let rendering: ImageRequest.Rendering

        package let options: ImageOptions

        package let imageKey: CacheKey

        /// The identity of the image in any size; `nil` if other sizes cannot stand in for this one.
        let baseKey: CacheKey?

        /// A Boolean value indicating whether the key hook may change the text.
        let isFromText: Bool

        /// Creates the key of a rendering of the resource that `text` names.
        public init(_ text: String, rendering: ImageRequest.Rendering = .init(), options: ImageOptions = []) {
            self.init(text, rendering: rendering, options: options, isFromText: true)
        }

        /// Creates the key of the image that a pipeline loads for a request.
        public init(_ request: ImageRequest) {
            let (rendering, options) = (request.rendering, request.options)
            self.init(request.resourceKey, rendering: rendering, options: options, isFromText: false)
        }

        /// Creates a key from a string literal.
        public init(stringLiteral text: String) { self.init(text) }

        fileprivate init(_ text: String, rendering: ImageRequest.Rendering, options: ImageOptions, isFromText: Bool) {
            self.text = text
            self.rendering = rendering
            self.isFromText = isFromText
            let options = options.withImpliedOptions
            self.options = options.intersection(.affectingIdentity)
            imageKey = rendering.cacheKey(for: text, options: options)
            baseKey = rendering.transform == nil ? rendering.atFullSize.cacheKey(for: text, options: options) : nil
        }

        /// Returns whether two keys identify the same image.
        public static func == (left: Key, right: Key) -> Bool { left.imageKey == right.imageKey }

        /// Feeds the identity of the image to `hasher`.
        public func hash(into hasher: inout Hasher) { hasher.combine(imageKey) }

        /// The name of the image on disk if it is stored without the bytes of its resource; an animation has one name,
        /// whichever of its frames are decoded.
        var renditionText: String {
            rendering.cacheKeyText(for: text, options: options.subtracting([.preloadAllFrames, .firstFrameOnly]))
        }

        /// A Boolean value indicating whether the image is the resource itself, unchanged.
        var isFullImage: Bool { renditionText == text }

        /// The names under which the disk may have the image, in the order of the search.
        var diskKeys: [String] { isFullImage ? [text] : [renditionText, text] }

        /// Returns the key of another rendering of the same resource, or with an option about frames of an animation.
        func with(rendering: ImageRequest.Rendering? = nil, frames: ImageOptions? = nil) -> Key {
            let others = options.subtracting([.preloadAllFrames, .firstFrameOnly])
            let options = frames.map { others.union($0) } ?? options
            return Key(text, rendering: rendering ?? self.rendering, options: options, isFromText: isFromText)
        }
    }

    /// Returns a key after the configuration's hook.
    func resolved(_ key: Key) -> Key {
        guard key.isFromText, let hook = configuration.keyHook else { return key }
        return Key(hook(key.text), rendering: key.rendering, options: key.options, isFromText: false)
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
