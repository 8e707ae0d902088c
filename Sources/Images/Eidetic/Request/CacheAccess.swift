extension ImageRequest {
    /// The caches that a load may read, and those that it may write.
    ///
    /// ```swift
    /// var preview = ImageRequest(url: url)
    /// preview.cacheAccess.remove(.writeOriginal)
    /// ```
    public struct CacheAccess: OptionSet, Sendable, Hashable {
        /// The bits of the set.
        public let rawValue: UInt8

        /// Creates a set from its bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Decoded images in memory are found.
        public static let readMemory = CacheAccess(rawValue: 1)
        /// The decoded image is inserted into memory.
        public static let writeMemory = CacheAccess(rawValue: 2)
        /// Images on disk are found that have the requested size and are transformed.
        public static let readDerived = CacheAccess(rawValue: 4)
        /// The image is stored on disk in the requested size and transformed, if that pays.
        public static let writeDerived = CacheAccess(rawValue: 8)
        /// The bytes on disk are found.
        public static let readOriginal = CacheAccess(rawValue: 16)
        /// The bytes are stored on disk.
        public static let writeOriginal = CacheAccess(rawValue: 32)
        /// The bytes in the shared tier are found.
        public static let readShared = CacheAccess(rawValue: 64)
        /// The bytes are stored in the shared tier.
        public static let writeShared = CacheAccess(rawValue: 128)
        /// All caches may be read.
        public static let read: CacheAccess = [.readMemory, .readDerived, .readOriginal, .readShared]
        /// All caches may be written.
        public static let write: CacheAccess = [.writeMemory, .writeDerived, .writeOriginal, .writeShared]
        /// All caches may be read and written.
        public static let all: CacheAccess = [.read, .write]
    }
}
