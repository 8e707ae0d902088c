import EideticCore

/// A log of the keys that were read since the last drain.
///
/// A read appends its key here and writes nothing to disk. The next write applies the log to the ledger; after many
/// reads without a write, a thread of the cache applies it.
final class AccessLog: Sendable {
    private static let batchSize = 1_024
    private static let capacity = 8 * batchSize
    private let keys = Guarded<[CacheKey]>([])

    /// Records a read, and returns `true` if a batch is complete and should be drained.
    ///
    /// Reads beyond the capacity are not recorded.
    func record(_ key: CacheKey) -> Bool {
        keys.withLock { keys in
            guard keys.count < Self.capacity else { return false }
            keys.append(key)
            return keys.count % Self.batchSize == 0
        }
    }

    /// Removes and returns all recorded keys.
    func drain() -> [CacheKey] {
        keys.withLock { keys in
            let drained = keys
            keys.removeAll(keepingCapacity: drained.count <= 2 * Self.batchSize)
            return drained
        }
    }
}
