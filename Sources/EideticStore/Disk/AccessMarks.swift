import EideticCore

/// The keys that were read since somebody last asked.
///
/// A read notes its key here and nowhere else; the next write takes the notes along, or a thread of the cache does
/// when there are many.
final class AccessLog: Sendable {
    private static let batchSize = 1_024
    private static let capacity = 8 * batchSize
    private let keys = Guarded<[CacheKey]>([])

    /// Notes a read; gives whether it is time to take the notes.
    func record(_ key: CacheKey) -> Bool {
        keys.withLock { keys in
            guard keys.count < Self.capacity else { return false }
            keys.append(key)
            return keys.count % Self.batchSize == 0
        }
    }

    /// Gives all notes, and forgets them.
    func drain() -> [CacheKey] {
        keys.withLock { keys in
            let drained = keys
            keys.removeAll(keepingCapacity: drained.count <= 2 * Self.batchSize)
            return drained
        }
    }
}
