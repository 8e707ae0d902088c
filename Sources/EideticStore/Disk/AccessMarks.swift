import EideticCore

/// The keys that were read since somebody last asked.
///
/// A read notes its key here and nowhere else; the next write takes the notes along, or a thread of the cache does
/// when there are many.
final class AccessMarks: Sendable {
    private static let batch = 1_024
    private static let most = 8 * batch
    private let keys = Guarded<[CacheKey]>([])

    /// Notes a read; gives whether it is time to take the notes.
    func note(_ key: CacheKey) -> Bool {
        keys.withLock { keys in
            guard keys.count < Self.most else { return false }
            keys.append(key)
            return keys.count % Self.batch == 0
        }
    }

    /// Gives all notes, and forgets them.
    func take() -> [CacheKey] {
        keys.withLock { keys in
            let taken = keys
            keys.removeAll(keepingCapacity: taken.count <= 2 * Self.batch)
            return taken
        }
    }
}
