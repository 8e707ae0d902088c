package import EideticCore
import EideticStore

/// A simulator of the disk cache without files, which replays recorded requests.
///
/// It uses the index and the eviction order of the cache. The cache itself also evicts and records accesses in
/// batches, which the simulator does not.
package struct DiskCacheSimulator: Sendable {
    private var index = DiskIndex(blockSize: 1)
    private let capacity: Int

    /// Creates an empty cache of `capacity` bytes.
    package init(capacity: Int) { self.capacity = capacity }

    /// Looks an entry up, and inserts it if it is missing.
    ///
    /// - Returns: `true` if the entry was found; otherwise, `false`.
    package mutating func request(_ key: CacheKey, size: Int) -> Bool {
        if index.entry(for: key) != nil {
            index.touch(key, count: 1)
            return true
        }
        // A disk cache rejects entries larger than half of its limit.
        guard size <= capacity / 2 else { return false }
        while index.allocatedSize + size > capacity, index.evict(derivedFirst: true) != nil {}
        index.put(IndexEntry(key: key, size: UInt32(clamping: size)))
        return false
    }
}
