package import EideticCore
import EideticStore

/// A simulator of the memory cache without values, which replays recorded requests.
package struct MemoryCacheSimulator: Sendable {
    private let cache: MemoryCache<Bool>

    /// Creates an empty cache of `capacity` bytes.
    package init(capacity: Int, policy: ReplayPolicy) {
        cache = MemoryCache(policy: policy.makePolicy(capacity: capacity), costLimit: ByteCount(capacity))
    }

    /// Looks an entry up, and inserts it if it is missing.
    ///
    /// - Returns: `true` if the entry was found; otherwise, `false`.
    package func request(_ key: CacheKey, size: Int) -> Bool {
        if cache.value(for: key) != nil { return true }
        cache.insert(true, for: key, cost: ByteCount(size))
        return false
    }
}
