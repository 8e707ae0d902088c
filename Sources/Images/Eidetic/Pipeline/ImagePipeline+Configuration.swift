public import EideticCodecs
public import EideticCore
public import EideticFetch
public import EideticStore
import Glibc

extension ImagePipeline {
    /// The parts of a pipeline, and their limits.
    public struct Configuration: Sendable {
        /// The largest number of bytes of decoded images in memory.
        ///
        /// By default 15 % of the memory that the process may use, at most 512 MiB.
        public var memoryLimit: ByteCount = MemoryLimits.standard

        /// The memory cache; `nil`, the default, for one of the pipeline's own with ``memoryLimit``.
        ///
        /// A given cache observes the application's life only if its owner has it do so.
        public var memoryCache: ImageMemoryCache?

        /// The cache of the application behind the pipeline's own memory cache; none by default.
        ///
        /// A ``memoryCache`` that is set has a tier of its own.
        public var memoryTier: (any ImageMemoryTier)?

        /// The treatment of images in memory when the application enters the background; by default they are removed.
        ///
        /// An image that is displayed is found again all the same.
        public var memoryBackgroundBehavior = ImageMemoryCache.BackgroundBehavior.removeAll

        /// The disk cache for encoded images; `nil`, the default of this initializer, for none.
        public var diskCache: DiskCache?

        /// The conversion between encoded images and the bytes on disk, as for encryption; none by default.
        ///
        /// Loads write through it, with the bytes as they were received, and read what the pipeline's ``cache`` has
        /// stored. The disk then has no images that loads derive, whatever ``derivedImages`` is, and downloads are not
        /// handed over to ``transfers``. The shared tier has the bytes as they were received.
        public var serializer = ImageCache.Serializer()

        /// The images of other sizes, and the transformed ones, that are kept on disk; by default those whose reading
        /// takes less than a quarter of the time in which they were made.
        public var derivedImages = DerivedImages.automatic

        /// The tier that several machines share, between disk and network; `nil`, the default, for none.
        ///
        /// An image that one machine has loaded and decoded is not loaded by the others as long as it is fresh, and
        /// while one loads it the others wait. A tier that does not respond makes loads slower, and none fails.
        ///
        /// Never shared is what depends on who loads it: with cookies, credentials or header fields of the request,
        /// with a downloader that has a `requestModifier`, a `responseModifier`, a `decryptor`, a
        /// `network` or credentials, or with an unverified certificate; and what its server marks as `private`,
        /// `no-store` or `no-cache`, or sends with cookies. Nor is an image that was not decoded.
        public var sharedTier: (any SharedTier)?

        /// The time for which a cached image is used without its server; the disk cache's maximum age by default.
        public var freshness = Freshness.maximumAge

        /// The configuration of the downloader; a changed one makes a new downloader.
        ///
        /// By default it accepts the formats that this build can decode.
        public var downloads: Downloader.Configuration {
            get { lazyDownloader.configuration }
            set { lazyDownloader = LazyDownloader(newValue) }
        }

        /// The downloader; created on first use with ``downloads``, unless it is set.
        ///
        /// Header fields and credentials that the downloader adds, by its configuration or its `requestModifier`, are
        /// not part of an image's identity: callers that share a cache share its images. Header fields that tell users
        /// apart belong to the request, where a request processor may put them.
        public var downloader: Downloader {
            get { lazyDownloader.downloader }
            set { lazyDownloader = LazyDownloader(newValue) }
        }

        private var lazyDownloader: LazyDownloader

        /// The limits of memory, pixels and time for decoding an image; larger images are refused.
        public var decodeLimits: DecodeLimits = .standard

        /// The process in which images are decoded; by default those from a network, and every SVG, are decoded in the
        /// sandbox, and others in the application's process.
        ///
        /// A request may have a policy of its own (``ImageRequest/decodePolicy``).
        public var decodePolicy = DecodePolicy.automatic

        /// The policies of images from some hosts, in place of ``decodePolicy``; none by default.
        ///
        /// The keys are the names of hosts as in URLs, in lower case and without port. It is the host of the request
        /// that counts, not that of a redirect.
        public var hostDecodePolicies: [String: DecodePolicy] = [:]

        /// The largest number of decoded bytes of an image with `scaleDownLargeImages`; 60 MB by default.
        public var scaleDownLimit: ByteCount = 60_000_000

        /// The largest number of concurrent decodes; the number of processors by default, at least 1.
        public var maximumConcurrentDecodes: Int = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

        /// Functions that change or refuse each request before it is loaded, called in this order; none by default.
        ///
        /// They may add header fields, for example, or name query items to be ignored.
        public var requestProcessors: [@Sendable (ImageRequest) throws(EideticError) -> ImageRequest] = []

        /// A function that provides the bytes of a URL.
        public typealias Source = @Sendable (_ url: String) async throws(EideticError) -> [UInt8]

        /// The functions for URLs with schemes of the user's own, by the scheme in lower case.
        private(set) var sources: [String: Source] = [:]

        /// Registers a function that provides the bytes of URLs with a scheme of the user's own.
        ///
        /// It is called with the whole URL, on Swift's cooperative pool, and must not block. Equal URLs mean equal
        /// bytes: they are cached as those of a server. The schemes `http`, `https`, `file` and `data` cannot be
        /// replaced.
        ///
        /// - Parameters:
        ///   - scheme: The scheme without the colon, in any case.
        ///   - source: The function.
        public mutating func addSource(forScheme scheme: String, source: @escaping Source) {
            sources[scheme.lowercased()] = source
        }

        /// Interceptors around each load, the first one outermost; none by default.
        public var interceptors: [any ImageInterceptor] = []

        /// The source of phases, memory pressure and background tasks; by default the application of this process.
        package var environment: any ApplicationEnvironment = DefaultEnvironment.shared

        /// The service to which downloads are handed over when background time ends; none by default.
        ///
        /// It takes over loads with the option `continueInBackground`, which are cancelled otherwise, and prefetches to
        /// `transfers`. When an image has come, this pipeline, or one of a later process with the same service and disk
        /// cache, verifies it and stores it. A load with the option that misses the disk waits for an image that has
        /// come, and for the first answer of the service, 2 s at most. One pipeline of a process uses a service.
        /// Requires a disk cache.
        public var transfers: (any BackgroundDownloadProvider)?

        /// Creates a configuration with the defaults.
        ///
        /// - Parameters:
        ///   - diskCache: The disk cache; none by default.
        ///   - downloader: The downloader; by default one of the configuration's own.
        public init(diskCache: DiskCache? = nil, downloader: Downloader? = nil) {
            self.diskCache = diskCache
            lazyDownloader = downloader.map { LazyDownloader($0) } ?? LazyDownloader(Self.standardDownloads)
        }

        private static var standardDownloads: Downloader.Configuration {
            var configuration = Downloader.Configuration()
            configuration.acceptedTypes = ImageDecoder.supportedFormats.map(\.mimeType) + ["image/*"]
            return configuration
        }

        /// The defaults, with a disk cache in the user's cache directory.
        ///
        /// The directory is opened by the first load, on a thread of the cache. If it cannot be used, a warning is
        /// logged, and loads go on without it.
        public static var standard: Configuration {
            do throws(EideticError) {
                let disk = try DiskCache(deferred: DiskCache.Configuration(directory: DiskCache.defaultDirectory()))
                return Configuration(diskCache: disk)
            } catch {
                Log.write(.warning, category: .pipeline, message: "no disk cache: \(error.message)")
                return Configuration()
            }
        }
    }
}

extension ImagePipeline.Configuration {
    /// A rule for how long a cached image is used without its server.
    public enum Freshness: Sendable, Hashable {
        /// Until the disk cache's maximum age, whatever the server said.
        ///
        /// This is the tradition of image caches, in which a URL names one image. Responses that must not be stored
        /// (`no-store`, with cookies `Vary: Cookie`) are kept from the disk; memory has them as long as
        /// there is room. Of the directives of a request `no-store` and `only-if-cached` are obeyed.
        case maximumAge

        /// As long as the server says, else a tenth of the time since the last modification, at most a day; then the
        /// image is revalidated.
        ///
        /// `stale-while-revalidate` and `stale-if-error` are obeyed, and so are the directives of a request's own
        /// `Cache-Control` field. Responses that must not be stored are not kept in memory either, nor are those that
        /// depend (`Vary`) on fields which hooks of the downloader change. A redirect without a lifetime is followed
        /// anew each time. An image above the disk cache's maximum age is revalidated.
        /// - SeeAlso: RFC 9111, RFC 5861, RFC 8246.
        case http
    }
}
