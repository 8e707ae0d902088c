public import EideticCodecs
public import EideticCore
public import EideticFetch
public import EideticStore
import Glibc

extension ImagePipeline {
    /// The parts of a pipeline and their limits.
    public struct Configuration: Sendable {
        /// The most bytes of decoded pictures kept in memory.
        ///
        /// 15 % of what the process may use by default, at most 512 MiB.
        public var memoryLimit: ByteCount = MemoryLimits.standard

        /// Where decoded pictures are kept; `nil`, the default, for a place of its own with ``memoryLimit``.
        ///
        /// One that others use as well follows the application's life only where its owner has it do so.
        public var memoryCache: ImageMemoryCache?

        /// What becomes of the pictures in memory when the application goes into the background; they go by default.
        ///
        /// What is shown is found again all the same.
        public var memoryBackgroundBehavior = ImageMemoryCache.BackgroundBehavior.removeAll

        /// Where originals are kept between runs; `nil`, the default of this initialiser, for nowhere.
        public var diskCache: DiskCache?

        /// How long a cached original is served without asking its server; the disk cache's maximum age by default.
        public var freshness = Freshness.maximumAge

        /// What downloads.
        ///
        /// The header fields and credentials that it adds to requests of its own accord, or by its `requestModifier`, are not
        /// part of a picture's identity: who has the same caches is given the same pictures. What tells users apart belongs
        /// to the request: a request processor may put it there.
        public var downloader: Downloader

        /// What a picture may cost before it is refused.
        public var decodeLimits: DecodeLimits = .standard

        /// The most decoded bytes of a picture with `scaleDownLargeImages`; 60 MB by default.
        public var scaleDownLimit: ByteCount = 60_000_000

        /// How long a file of a picture that there is in several sizes may take to come; 2 seconds by default.
        ///
        /// Where the measured speed of its host makes it longer, the next smaller one is loaded instead.
        public var candidateTimeLimit: Duration = .seconds(2)

        /// How many pictures are decoded at once; the number of processors by default, at least 1.
        public var maximumConcurrentDecodes: Int = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

        /// Change each request before it is loaded, in this order: add headers, name query items to ignore, refuse.
        public var requestProcessors: [@Sendable (ImageRequest) throws(EideticError) -> ImageRequest] = []

        /// Stand around each load, the first one outermost; none by default.
        public var interceptors: [any ImageInterceptor] = []

        /// Where the pipeline learns of memory pressure and takes background tasks; nothing by default.
        public var environment: any ApplicationEnvironment = ForegroundEnvironment()

        /// Creates a configuration with the defaults; without a disk cache unless one is given.
        ///
        /// The default downloader accepts the formats that this build can decode.
        public init(diskCache: DiskCache? = nil, downloader: Downloader? = nil) {
            self.diskCache = diskCache
            self.downloader = downloader ?? Downloader(Self.standardDownloaderConfiguration)
        }

        /// The downloader's defaults, with the formats that this build can decode as those it accepts (L20).
        public static var standardDownloaderConfiguration: Downloader.Configuration {
            var downloads = Downloader.Configuration()
            downloads.acceptedTypes = ImageDecoder.supportedFormats.map(\.mimeType) + ["image/*"]
            return downloads
        }

        /// The defaults, with a disk cache in the user's cache directory.
        ///
        /// Where that directory cannot be used, pictures are loaded all the same and a warning is logged.
        public static var standard: Configuration {
            do throws(EideticError) {
                let disk = try DiskCache(DiskCache.Configuration(directory: DiskCache.defaultDirectory()))
                return Configuration(diskCache: disk)
            } catch {
                Log.write(.warning, category: .pipeline, message: "no disk cache: \(error.message)")
                return Configuration()
            }
        }
    }
}
