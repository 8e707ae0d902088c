public import EideticCodecs
public import EideticCore
public import EideticFetch
public import EideticStore
public import FoundationEssentials
import Glibc

extension ImagePipeline {
    /// The parts of a pipeline, and their limits.
    public struct Configuration: Sendable {
        /// The memory limit for decoded images, in bytes.
        ///
        /// By default 15 % of the memory that the process may use, at most 512 MiB.
        public var memoryLimit: ByteCount = MemoryLimits.standard

        /// The memory cache; `nil`, the default, creates one with ``memoryLimit``.
        ///
        /// A cache that is set here reacts to the application's state only if its owner has arranged that.
        public var memoryCache: ImageMemoryCache?

        /// The treatment of images in memory when the application enters the background; by default they are removed.
        ///
        /// An image that is still displayed is found again nevertheless.
        public var memoryBackgroundBehavior = ImageMemoryCache.BackgroundBehavior.removeAll

        /// The disk cache for encoded images; `nil`, the default of this initializer, for none.
        public var diskCache: DiskCache?

        /// The conversion between encoded images and the bytes on disk, as for encryption; none by default.
        ///
        /// Loads and the pipeline's ``cache`` read and write the disk through it. With a serializer, loads keep no
        /// derived images, whatever ``derivedImages`` is, and downloads are not handed over to ``transfers``. The
        /// shared tier receives the bytes unconverted.
        public var serializer = ImageCache.Serializer()

        /// The policy for resized and transformed images on disk; `automatic` by default, which keeps those that are
        /// four times faster to read than to make.
        public var derivedImages = DerivedImages.automatic

        /// The tier that several machines share, between disk and network; `nil`, the default, for none.
        ///
        /// While an image that one machine has loaded is fresh, the others do not load it from its server; while one
        /// machine loads it, the others wait. If the tier does not respond, loads are slower but do not fail.
        ///
        /// Never shared are images that were not decoded, and responses that may depend on the client:
        ///
        /// - loaded with cookies, credentials or header fields of the request, or with an unverified certificate;
        /// - loaded by a downloader with a `requestModifier`, a `responseModifier`, a `decryptor`, a `network` or
        ///   credentials;
        /// - marked `private`, `no-store` or `no-cache`, or sent with cookies.
        public var sharedTier: (any SharedTier)?

        /// The rule for how long a cached image is used without revalidation; the disk cache's maximum age by default.
        public var freshness = Freshness.maximumAge

        /// The configuration of the downloader; setting it creates a new downloader.
        ///
        /// By default it accepts the formats that this build can decode.
        public var downloads: Downloader.Configuration {
            get { lazyDownloader.configuration }
            set { lazyDownloader = LazyDownloader(newValue) }
        }

        /// The downloader; created on first use with ``downloads``, unless it is set.
        ///
        /// Header fields and credentials that the downloader adds, by its configuration or its `requestModifier`, are
        /// not part of an image's key: all users of the cache share its images. Set user-specific header fields on the
        /// request instead, for example in a request processor.
        public var downloader: Downloader {
            get { lazyDownloader.downloader }
            set { lazyDownloader = LazyDownloader(newValue) }
        }

        private var lazyDownloader: LazyDownloader

        /// The limits of memory, pixels and time for decoding an image; larger images are refused.
        public var decodeLimits: DecodeLimits = .standard

        /// The process in which images are decoded; `automatic` by default: the sandbox for images from a network and
        /// every SVG, the application's process for others.
        ///
        /// ``ImageRequest/decodePolicy`` overrides it for one request.
        public var decodePolicy = DecodePolicy.automatic

        /// The policies for images from certain hosts, which override ``decodePolicy``; none by default.
        ///
        /// The keys are host names as in URLs, in lower case and without port. The host of the request counts, not that
        /// of a redirect.
        public var hostDecodePolicies: [String: DecodePolicy] = [:]

        /// The largest decoded size of an image with `scaleDownLargeImages`; 60 MB by default.
        public var scaleDownLimit: ByteCount = 60_000_000

        /// The largest number of concurrent decodes; the number of processors by default, at least 1.
        public var maximumConcurrentDecodes: Int = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

        /// Functions that change each request before it is loaded, or refuse it by throwing, called in this order; none
        /// by default.
        ///
        /// For example, they can add header fields, or set the ignored query items.
        public var requestProcessors: [@Sendable (ImageRequest) throws(EideticError) -> ImageRequest] = []

        typealias Source = @Sendable (_ url: String) async throws(EideticError) -> [UInt8]

        /// The functions for URLs with schemes of the user's own, by the scheme in lower case.
        private(set) var sources: [String: Source] = [:]

        /// Registers a function that provides the bytes of URLs with a custom scheme.
        ///
        /// It is called with the whole URL, on Swift's cooperative pool, and must not block. Equal URLs must provide
        /// equal bytes, which are cached like those of a server. The schemes `http`, `https`, `file` and `data` cannot
        /// be replaced.
        ///
        /// - Parameters:
        ///   - scheme: The scheme without the colon, in any case.
        ///   - source: The function.
        public mutating func addSource<Bytes: ContiguousBytes & SendableMetatype>(
            forScheme scheme: String,
            source: @escaping @Sendable (_ url: String) async throws(EideticError) -> Bytes
        ) {
            let bytes: Source = { url async throws(EideticError) in try await source(url).array }
            sources[scheme.lowercased()] = bytes
        }

        /// Interceptors around each load, the first one outermost; none by default.
        public var interceptors: [any ImageInterceptor] = []

        /// The source of phases, memory pressure and background tasks; by default the application of this process.
        package var environment: any ApplicationEnvironment = DefaultEnvironment.shared

        /// The service to which downloads are handed over when background time ends; none by default.
        ///
        /// It takes over loads with the option `continueInBackground`, which are otherwise cancelled, and prefetches to
        /// `transfers`. A finished download is verified and stored by this pipeline, or by one of a later process with
        /// the same service and disk cache.
        ///
        /// A load with the option that misses the disk waits at most 2 s for the first reply of the service, and until
        /// a finished download is stored. Only one pipeline of a process may use a service. Requires a disk cache.
        public var transfers: (any BackgroundDownloadProvider)?

        /// Creates a configuration with the defaults, and without a disk cache.
        public init() { lazyDownloader = LazyDownloader(Self.standardDownloads) }

        /// Creates a configuration with a disk cache, and with a downloader, by default a new one.
        package init(diskCache: DiskCache? = nil, downloader: Downloader? = nil) {
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
        /// The first load opens the directory, on a thread of the cache. If it cannot be used, a warning is logged, and
        /// loads continue without it.
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
    /// A rule for how long a cached image is used without revalidation.
    public enum Freshness: Sendable, Hashable {
        /// Until the disk cache's maximum age, whatever lifetime the server sent.
        ///
        /// This is the usual behaviour of image caches, in which a URL names one image. Responses that must not be
        /// stored (`no-store`; for requests with cookies `Vary: Cookie`) are kept in memory only. The request
        /// directives `no-store` and `only-if-cached` are obeyed.
        case maximumAge

        /// For as long as the server allows, or else a tenth of the time since the last modification, at most a day;
        /// then the image is revalidated.
        ///
        /// `stale-while-revalidate`, `stale-if-error` and the request's own `Cache-Control` directives are obeyed.
        /// Responses that must not be stored are not kept in memory either, nor are those that depend (`Vary`) on
        /// fields changed by hooks of the downloader. A redirect without a lifetime is followed again each time. An
        /// image above the disk cache's maximum age is revalidated.
        /// - SeeAlso: RFC 9111, RFC 5861, RFC 8246.
        case http
    }
}

/// A downloader that is created on first use, because each has a thread of its own.
final class LazyDownloader: Sendable {
    let configuration: Downloader.Configuration
    private let existing: Guarded<Downloader?>

    init(_ configuration: Downloader.Configuration) {
        self.configuration = configuration
        existing = Guarded(nil)
    }

    init(_ downloader: Downloader) {
        configuration = downloader.configuration
        existing = Guarded(downloader)
    }

    var downloader: Downloader {
        existing.withLock { existing in
            let downloader = existing ?? Downloader(configuration)
            existing = downloader
            return downloader
        }
    }
}
