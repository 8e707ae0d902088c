package import EideticCore

/// The disk cache's accounting and order of eviction without its files, to replay recorded requests.
///
/// What a directory adds to it: room is made in steps, and uses are noted in batches.
package struct DiskCacheSimulator: Sendable {
    private var index = DiskIndex(blockSize: 1)
    private let capacity: Int

    /// Creates an empty cache of `capacity` bytes.
    package init(capacity: Int) { self.capacity = capacity }

    /// Asks for an entry, and puts it in where it is not there; gives whether it was.
    package mutating func request(_ key: CacheKey, size: Int) -> Bool {
        if index.entry(for: key) != nil {
            index.touch(key, count: 1)
            return true
        }
        // As the cache refuses what is larger than half of its limit.
        guard size <= capacity / 2 else { return false }
        while index.allocatedSize + size > capacity, index.evict(derivedFirst: true) != nil {}
        index.put(IndexEntry(key: key, size: UInt32(clamping: size)))
        return false
    }
}
