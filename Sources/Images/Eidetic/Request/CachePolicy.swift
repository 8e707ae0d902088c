import EideticCore

extension ImageRequest {
    /// The way a load uses the caches: which it reads and writes, and whether it waits for storage.
    ///
    /// ```swift
    /// var request = ImageRequest(url: url)
    /// request.cachePolicy = .reload
    /// request.cachePolicy.writes.remove(.original)
    /// ```
    public struct CachePolicy: Sendable, Hashable {
        /// A set of caches.
        public struct Tiers: OptionSet, Sendable, Hashable {
            /// The bits of the set.
            public let rawValue: UInt8

            /// Creates a set from its bits.
            public init(rawValue: UInt8) { self.rawValue = rawValue }

            /// Decoded images in memory.
            public static let memory = Tiers(rawValue: 1)
            /// Resized and transformed images on disk; stored as `ImagePipeline.Configuration.derivedImages` says.
            public static let derived = Tiers(rawValue: 2)
            /// The bytes on disk.
            public static let original = Tiers(rawValue: 4)
            /// The bytes in the shared tier.
            public static let shared = Tiers(rawValue: 8)
            /// All caches.
            public static let all: Tiers = [.memory, .derived, .original, .shared]
        }

        /// The places in which an image is searched.
        package enum Search: Sendable, Hashable {
            /// The caches that may be read, then the source.
            case cachesElseSource
            /// The caches only; if none has the image, the load fails with `cacheMiss`.
            case cachesOnly
            /// The source only; the new image is stored in the caches.
            case sourceOnly
        }

        /// The caches that are searched; all by default.
        public var reads: Tiers

        /// The caches in which the image is stored; all by default.
        public var writes: Tiers

        /// The places that are searched; the caches, then the source, by default.
        package var search = Search.cachesElseSource

        /// A Boolean value indicating whether the image is delivered only after its bytes are stored; false by default.
        ///
        /// `ImageResponse.storeError` has the error if storing failed.
        public var waitsForStorage = false

        /// A Boolean value indicating whether the response includes the encoded bytes also for an image from memory;
        /// false by default.
        public var includesBytes = false

        /// The time for which memory and disk keep an image that this load stores or its server confirms; `nil`, the
        /// default, for the times of the caches.
        ///
        /// It takes the place of the disk cache's maximum age, and of memory's default. An image whose freshness ends
        /// earlier is revalidated, as always. An image that another load has stored keeps its own time on disk; of
        /// loads that share their work, the first one's holds. It does not extend the time in a shared tier.
        public var timeToLive: Duration?

        /// Creates a policy.
        public init(reads: Tiers = .all, writes: Tiers = .all) {
            self.reads = reads
            self.writes = writes
        }

        /// Reads and writes all caches; loads from the source if no cache has the image.
        public static let standard = CachePolicy()

        /// Like ``standard``, but stores the image in memory only.
        public static let memoryOnly = CachePolicy(writes: .memory)

        /// Uses caches only; if none has the image, the load fails with `cacheMiss`.
        public static let cachedOnly = CachePolicy().with { $0.search = .cachesOnly }

        /// Ignores cached images, and stores the new image in all caches.
        public static let reload = CachePolicy().with { $0.search = .sourceOnly }

        /// Reads all caches, and stores nothing.
        public static let noStore = CachePolicy(writes: [])

        /// Like ``standard``, but delivers the image only after its bytes are stored.
        public static let afterStorage = CachePolicy().with { $0.waitsForStorage = true }

        func expirationTime(at now: Timestamp) -> Timestamp? { timeToLive.map { now + $0 } }

        private func with(_ change: (inout CachePolicy) -> Void) -> CachePolicy {
            var policy = self
            change(&policy)
            return policy
        }
    }
}
