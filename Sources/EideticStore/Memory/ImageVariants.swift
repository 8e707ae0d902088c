internal import EideticCore

/// Which decodes of one picture there were: a hint, to be asked of the cache.
final class ImageVariants: Sendable {
    /// One decode.
    struct Variant: Sendable, Hashable {
        let key: CacheKey
        let size: PixelSize
        /// The size of the whole picture.
        let sourceSize: PixelSize
        /// Whether it was drawn, so that every size is drawn anew: no larger decode stands in for a smaller one.
        var isDrawing = false

        /// Whether it has all pixels that a decode to a size would have; `nil` for the picture's own size.
        func covers(_ wanted: PixelSize?, _ mode: ContentMode) -> Bool {
            if isDrawing { return false }
            let needed = wanted.map { sourceSize.scaled(to: $0, mode) } ?? sourceSize
            return size.width >= needed.width && size.height >= needed.height
        }
    }

    private struct State: Sendable {
        /// In the order of their sizes.
        var variants: [CacheKey: [Variant]] = [:]
        var sweepsAt = 256
    }

    private let state = Guarded(State())

    /// All decodes of `base`, the smallest first.
    func all(of base: CacheKey) -> [Variant] { state.withLock { $0.variants[base] ?? [] } }

    /// Notes a decode; asks `isThere` of all now and then, and forgets those that are not.
    func insert(_ variant: Variant, of base: CacheKey, isThere: (CacheKey) -> Bool) {
        let isFull = state.withLock { state in
            var list = (state.variants[base] ?? []).filter { $0.key != variant.key }
            let place = list.firstIndex { $0.size.pixelCount > variant.size.pixelCount } ?? list.count
            list.insert(variant, at: place)
            state.variants[base] = list
            return state.variants.count >= state.sweepsAt
        }
        if isFull { sweep(isThere) }
    }

    /// Forgets a decode.
    func remove(_ variant: Variant, of base: CacheKey) {
        state.withLock { state in
            let list = (state.variants[base] ?? []).filter { $0 != variant }
            state.variants[base] = list.isEmpty ? nil : list
        }
    }

    /// Forgets what is not there, and waits until there is twice as much: constant cost a decode.
    private func sweep(_ isThere: (CacheKey) -> Bool) {
        let known = state.withLock { $0.variants }
        let gone = known.mapValues { list in list.filter { !isThere($0.key) } }
        for (base, list) in gone { for variant in list { remove(variant, of: base) } }
        state.withLock { $0.sweepsAt = max(256, $0.variants.count * 2) }
    }
}
