public import EideticCore

/// An application's cache of encoded images, which a disk cache searches after its own directory.
///
/// The functions are called on the threads of the disk cache, several at once, and may block. A key may contain secrets
/// that are in a URL. To store an entry elsewhere, use its ``DiskCache/Entry/encoded`` form: it contains all metadata,
/// and checksums that are verified when it is decoded.
public protocol EncodedImageTier: AnyObject, Sendable {
    /// Returns the entry for a key; `nil` if there is none. The disk cache decides whether it has expired.
    func entry(for key: String) throws(EideticError) -> DiskCache.Entry?
    /// Stores an entry in place of an earlier one; called only if the tier is written.
    func insert(_ entry: DiskCache.Entry) throws(EideticError)
    /// Removes an entry; no effect if there is none.
    func remove(_ key: String) throws(EideticError)
    /// Removes all entries; called only if the tier is written.
    func removeAll() throws(EideticError)
}

/// A disk cache as a tier of another one.
private final class DirectoryTier: EncodedImageTier {
    private let cache: DiskCache.Blocking

    init(_ cache: DiskCache) { self.cache = cache.blocking }

    func entry(for key: String) throws(EideticError) -> DiskCache.Entry? {
        try cache.read(key, allowingExpired: true)
    }

    func insert(_ entry: DiskCache.Entry) throws(EideticError) {
        try cache.insert(entry.bytes, for: entry.key, metadata: entry.metadata)
    }

    func remove(_ key: String) throws(EideticError) { _ = try cache.remove(key) }

    func removeAll() throws(EideticError) { try cache.removeAll() }
}

extension DiskCache.Entry {
    /// The bytes of the entry's file: the value, followed by key, metadata and checksums.
    public var encoded: [UInt8] { SharedEntry.encode(self) }

    /// Decodes the bytes of an entry's file.
    ///
    /// - Parameters:
    ///   - encoded: The bytes.
    ///   - key: The key that the entry must have.
    /// - Throws: `checksumMismatch` for bytes that are damaged, or of another key.
    public init(encoded: consuming [UInt8], for key: String) throws(EideticError) {
        self = try SharedEntry.decode(encoded, expecting: key)
    }
}

extension DiskCache {
    /// One of the caches behind a disk cache.
    public struct Tier: Sendable, Hashable {
        let cache: any EncodedImageTier
        let isWritten: Bool
        private let identity: ObjectIdentifier

        /// Creates a tier from a cache of the application.
        ///
        /// - Parameters:
        ///   - cache: The cache.
        ///   - isWritten: Whether new entries are also stored in it, and `removeAll` also empties it; `false` by
        ///     default. A single entry is always removed from it, as it would otherwise be found again.
        public init(_ cache: any EncodedImageTier, isWritten: Bool = false) {
            self.cache = cache
            self.isWritten = isWritten
            identity = ObjectIdentifier(cache)
        }

        /// Creates a tier from another directory.
        ///
        /// - Parameters:
        ///   - cache: The cache of the directory.
        ///   - isWritten: Whether new entries are also stored in it; `false` by default.
        public init(_ cache: DiskCache, isWritten: Bool = false) {
            self.cache = DirectoryTier(cache)
            self.isWritten = isWritten
            identity = ObjectIdentifier(cache)
        }

        /// Returns `true` for the same cache in the same role.
        public static func == (left: Tier, right: Tier) -> Bool {
            left.identity == right.identity && left.isWritten == right.isWritten
        }

        /// Hashes the identity of the cache.
        public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
    }
}
