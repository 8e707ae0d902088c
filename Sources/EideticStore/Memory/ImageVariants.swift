internal import EideticCore

/// Which decodes of one picture there were: a hint, to be asked of the cache.
final class DecodedSizeIndex: Sendable {
    /// One decode.
    struct Entry: Sendable, Hashable {
        let key: CacheKey
        let size: PixelSize
        /// The size of the whole picture.
        let sourceSize: PixelSize
        /// Whether it was drawn, so that every size is drawn anew: no larger decode stands in for a smaller one.
        var isDrawing = false

        /// Whether it has all pixels that a decode to a size would have; `nil` for the picture's own size.
        func covers(_ target: PixelSize?, mode: ContentMode) -> Bool {
            if isDrawing { return false }
            let required = target.map { sourceSize.scaled(to: $0, mode: mode) } ?? sourceSize
            return size.width >= required.width && size.height >= required.height
        }
    }

    private struct State: Sendable {
        /// In the order of their sizes.
        var entries: [CacheKey: [Entry]] = [:]
        var sweepThreshold = 256
    }

    private let state = Guarded(State())

    /// All decodes of `base`, the smallest first.
    func entries(for base: CacheKey) -> [Entry] { state.withLock { $0.entries[base] ?? [] } }

    /// Notes a decode; asks `isThere` of all now and then, and forgets those that are not.
    func insert(_ entry: Entry, for base: CacheKey, isCached: (CacheKey) -> Bool) {
        let isFull = state.withLock { state in
            var list = (state.entries[base] ?? []).filter { $0.key != entry.key }
            let index = list.firstIndex { $0.size.pixelCount > entry.size.pixelCount } ?? list.count
            list.insert(entry, at: index)
            state.entries[base] = list
            return state.entries.count >= state.sweepThreshold
        }
        if isFull { removeStaleEntries(isCached: isCached) }
    }

    /// Forgets a decode.
    func remove(_ entry: Entry, for base: CacheKey) {
        state.withLock { state in
            let list = (state.entries[base] ?? []).filter { $0 != entry }
            state.entries[base] = list.isEmpty ? nil : list
        }
    }

    /// Forgets what is not there, and waits until there is twice as much: constant cost a decode.
    private func removeStaleEntries(isCached isThere: (CacheKey) -> Bool) {
        let entries = state.withLock { $0.entries }
        let stale = entries.mapValues { list in list.filter { !isThere($0.key) } }
        for (base, list) in stale { for entry in list { remove(entry, for: base) } }
        state.withLock { $0.sweepThreshold = max(256, $0.entries.count * 2) }
    }
}
