import EideticCore

/// Which pictures in memory were made of which original: in all sizes, with all transforms.
///
/// A hint, like an index: what it names may be gone, and the cache is asked.
final class DerivedPictures: Sendable {
    private struct State {
        var keys: [String: Set<CacheKey>] = [:]
        var sweepsAt = 512
        /// The moment, counted in replacements, at which an original was last replaced.
        var replaced: [String: UInt64] = [:]
        var now: UInt64 = 0
    }

    private let state = Guarded(State())

    /// A moment to be kept from before an original is read until its picture is put in.
    var now: UInt64 { state.withLock { $0.now } }

    /// Whether `original` was replaced after the moment `start`, so that what was made of it is out of date.
    func isReplaced(_ original: String, since start: UInt64) -> Bool {
        state.withLock { $0.replaced[original].map { $0 > start } ?? false }
    }

    /// Notes a picture; asks `isThere` of all now and then, and forgets those that are not.
    func note(_ key: CacheKey, of original: String, isThere: (CacheKey) -> Bool) {
        let known = state.withLock { state -> [String: Set<CacheKey>]? in
            state.keys[original, default: []].insert(key)
            return state.keys.count >= state.sweepsAt ? state.keys : nil
        }
        guard let known else { return }
        let gone = known.mapValues { $0.filter { !isThere($0) } }
        state.withLock { state in
            for (original, keys) in gone {
                state.keys[original]?.subtract(keys)
                if state.keys[original]?.isEmpty == true { state.keys[original] = nil }
            }
            state.sweepsAt = max(512, state.keys.count * 2)
        }
    }

    /// Says that an original has other bytes from now on; gives what was made of the old ones.
    func replace(_ original: String) -> Set<CacheKey> {
        state.withLock { state in
            state.now += 1
            // Only loads that are under way ask for it, so that what is old may be forgotten.
            if state.replaced.count >= 1_024 {
                let oldest = state.now - 512
                state.replaced = state.replaced.filter { $0.value >= oldest }
            }
            state.replaced[original] = state.now
            return state.keys.removeValue(forKey: original) ?? []
        }
    }
}
