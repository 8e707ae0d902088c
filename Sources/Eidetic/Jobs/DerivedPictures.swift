import EideticCore
import EideticStore

/// Which pictures in memory were made of which original: in all sizes, with all transforms.
///
/// A hint, like an index: what it names may be gone, and the cache is asked.
final class RenditionIndex: Sendable {
    /// The loads of one original that are under way.
    private struct Loads {
        var count = 0
        /// When other bytes came last, and which.
        var replaced: (moment: UInt64, checksum: UInt64)?
    }

    private struct State {
        var keys: [String: Set<CacheKey>] = [:]
        var sweepsAt = 512
        var loads: [String: Loads] = [:]
        /// Counted in replacements.
        var now: UInt64 = 0
    }

    private let memory: ImageMemoryCache
    private let state = Guarded(State())

    init(_ memory: ImageMemoryCache) { self.memory = memory }

    /// Says that an original is about to be read; gives this moment, and must be followed by ``end(_:)``.
    func begin(_ original: String) -> UInt64 {
        state.withLock { state in
            state.loads[original, default: Loads()].count += 1
            return state.now
        }
    }

    /// Says that what was made of an original is where it belongs, or will never be.
    func end(_ original: String) {
        state.withLock { state in
            state.loads[original]?.count -= 1
            if state.loads[original]?.count == 0 { state.loads[original] = nil }
        }
    }

    /// Puts a picture into memory for the time that it is fresh, unless its original was replaced after the moment `start`.
    func keep(
        _ image: Image,
        _ request: ImageRequest,
        _ source: ImageSource,
        for life: Duration?,
        since start: UInt64
    ) {
        guard life != .zero, !isReplaced(request, image, start) else { return }
        let (key, base) = (request.imageKey, request.baseKey)
        if source == .disk {
            memory.insertFromDisk(image, for: key, base: base, timeToLive: life)
        } else {
            memory.insert(image, for: key, base: base, timeToLive: life)
        }
        note(key, of: request.resourceKey)
        // Who replaced it meanwhile may have looked for it too early.
        if isReplaced(request, image, start) { memory.images.remove(key) }
    }

    /// Says that an original has the bytes of this checksum from now on: what was made of others goes from memory.
    ///
    /// What others put into the cache, whose bytes nobody knows, goes with the first word of it: later they may have seen
    /// the new ones.
    func replace(_ request: ImageRequest, by checksum: UInt64, isAgain: Bool = false) {
        let keys = state.withLock { state in
            state.now += 1
            state.loads[request.resourceKey]?.replaced = (state.now, checksum)
            return state.keys[request.resourceKey] ?? []
        }
        // Another size may have been made of the new bytes already.
        func isOld(_ image: Image?) -> Bool { image?.encodedChecksum.map { $0 != checksum } ?? !isAgain }
        for key in keys where isOld(memory.images.peek(key)) { memory.images.remove(key) }
        if let base = request.baseKey { memory.removeAll(forBase: base, where: isOld) }
    }

    private func isReplaced(_ request: ImageRequest, _ image: Image, _ start: UInt64) -> Bool {
        guard let last = state.withLock({ $0.loads[request.resourceKey]?.replaced }) else { return false }
        return last.moment > start && last.checksum != image.encodedChecksum
    }

    /// Notes a picture; now and then forgets those that are not there any more.
    private func note(_ key: CacheKey, of original: String) {
        let known = state.withLock { state -> [String: Set<CacheKey>]? in
            state.keys[original, default: []].insert(key)
            return state.keys.count >= state.sweepsAt ? state.keys : nil
        }
        guard let known else { return }
        let gone = known.mapValues { $0.filter { !memory.images.contains($0) } }
        state.withLock { state in
            for (original, keys) in gone {
                state.keys[original]?.subtract(keys)
                if state.keys[original]?.isEmpty == true { state.keys[original] = nil }
            }
            state.sweepsAt = max(512, state.keys.count * 2)
        }
    }
}
