internal import EideticCore

/// The sizes in which a memory cache holds each image, by base key.
///
/// The index is a hint: an entry may name an image that was evicted meanwhile, so a caller looks each one up.
final class DecodedSizeIndex: Sendable {
    /// One decode of an image.
    struct Entry: Sendable, Hashable {
        let key: CacheKey
        let size: PixelSize
        /// The size of the full image.
        let sourceSize: PixelSize
        /// A Boolean value indicating whether the image is a vector image, each size of which is drawn separately.
        var isVector = false
        /// A Boolean value indicating whether a part of the image is missing, or its proportions are others.
        var isCropped = false

        /// Returns `true` if this decode has all pixels of a decode to `target`; `nil` is the image's own size.
        func covers(_ target: PixelSize?, mode: ContentMode) -> Bool {
            if isVector || isCropped { return false }
            let required = target.map { sourceSize.scaledBeforeCrop(to: $0, mode: mode) } ?? sourceSize
            return size.width >= required.width && size.height >= required.height
        }
    }

    private struct State: Sendable {
        /// The decodes by base key, the smallest first.
        var entries: [CacheKey: [Entry]] = [:]
        var sweepThreshold = 256
    }

    private let state = Guarded(State())

    /// Returns all decodes with this base key, the smallest first.
    func entries(for base: CacheKey) -> [Entry] { state.withLock { $0.entries[base] ?? [] } }

    /// Records a decode, and now and then removes the decodes for which `isCached` returns `false`.
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

    func remove(_ entry: Entry, for base: CacheKey) {
        state.withLock { state in
            let list = (state.entries[base] ?? []).filter { $0 != entry }
            state.entries[base] = list.isEmpty ? nil : list
        }
    }

    /// Removes the decodes that are not cached any more.
    ///
    /// The next sweep happens when the index has doubled, so the cost for each insertion is constant.
    private func removeStaleEntries(isCached isThere: (CacheKey) -> Bool) {
        let entries = state.withLock { $0.entries }
        let stale = entries.mapValues { list in list.filter { !isThere($0.key) } }
        for (base, list) in stale { for entry in list { remove(entry, for: base) } }
        state.withLock { $0.sweepThreshold = max(256, $0.entries.count * 2) }
    }
}
