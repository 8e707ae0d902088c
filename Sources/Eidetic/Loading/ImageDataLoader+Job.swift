import EideticCore
import EideticFetch
import EideticStore

extension ImageDataLoader {
    /// One load of encoded bytes, as its steps hand it along.
    struct Job: Sendable {
        let request: ImageRequest
        let cachePolicy: CachePolicy
        let context: JobContext
        let report: @Sendable (Update) -> Void
    }

    /// The progress of a load.
    struct Update: Sendable {
        let progress: FetchProgress
        /// A Boolean value indicating whether the last report is old enough for another one.
        var isReported = true
        /// The bytes received so far; `nil` unless previews are requested.
        var partialData: PartialData?
    }

    /// The tiers that a load may use; loads that differ in it are never coalesced.
    enum CachePolicy: Hashable {
        /// The disk cache, then the source.
        case cacheElseSource
        /// The disk cache only, as far as its entry is fresh.
        case cacheOnly
        /// The source only.
        case sourceOnly
        /// The disk cache only, also if its entry is stale: the caller revalidates it afterwards.
        case cacheOnlyAllowingStale

        var allowsSource: Bool { self == .cacheElseSource || self == .sourceOnly }

        /// Creates the policy that a request's options, or the directive `only-if-cached`, name.
        init(_ request: ImageRequest) {
            self = request.options.contains(.fromLoaderOnly) ? .sourceOnly : .cacheElseSource
            if request.options.contains(.fromCacheOnly) || request.isOnlyIfCached { self = .cacheOnly }
        }
    }

    /// The result of a search of the disk cache.
    enum DiskLookup {
        /// No usable entry; the value is the reason.
        case miss(String)
        /// An entry that may be used.
        case hit(EncodedImage)
        /// An entry that the server must confirm first.
        case stale(StoredEntry)
    }
}
