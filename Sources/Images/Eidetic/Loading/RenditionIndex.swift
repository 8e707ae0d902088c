import EideticStore

/// An index of the images in memory by the resource that they were decoded from, in all sizes and with all transforms.
///
/// The index is a hint: an image that it names may have been evicted. It also keeps images out of memory whose bytes
/// were replaced while they were decoded.
final class RenditionIndex: Sendable {
    /// The active loads of one resource.
    private struct ActiveLoads {
        var count = 0
        /// The newest replacement of the bytes.
        var replacement: (moment: UInt64, provenance: Image.Provenance?)?
    }

    private struct State {
        var keys: [String: Set<CacheKey>] = [:]
        var sweepThreshold = 512
        var loads: [String: ActiveLoads] = [:]
        /// The number of replacements so far.
        var moment: UInt64 = 0
    }

    private let memory: ImageMemoryCache
    private let state = Guarded(State())

    init(memory: ImageMemoryCache) { self.memory = memory }

    /// Records that a load of a resource starts; it ends when the token is released.
    func startLoad(of resourceKey: String) -> LoadToken {
        let moment = state.withLock { state in
            state.loads[resourceKey, default: ActiveLoads()].count += 1
            return state.moment
        }
        return LoadToken(index: self, resourceKey: resourceKey, moment: moment)
    }

    /// A load of a resource, from its start until its image is inserted, or never will be.
    struct LoadToken: ~Copyable {
        fileprivate let index: RenditionIndex
        fileprivate let resourceKey: String
        /// The start of the load, counted in replacements.
        fileprivate let moment: UInt64

        deinit {
            index.state.withLock { state in
                guard var loads = state.loads[resourceKey] else { return }
                loads.count -= 1
                state.loads[resourceKey] = loads.count == 0 ? nil : loads
            }
        }

        /// Inserts an image into memory, unless its bytes were replaced after the start of the load.
        func insert(
            _ image: Image,
            for request: ImageRequest,
            from source: ImageSource,
            timeToLive: Duration? = nil,
            hasSourceSize: Bool = true
        ) {
            let times = [timeToLive, request.cachePolicy.timeToLive]
            let timeToLive = times.compactMap(\.self).min()
            guard timeToLive != .zero, request.writes.contains(.memory), !isOutdated(image) else { return }
            let (key, base, memory) = (request.imageKey, hasSourceSize ? request.baseKey : nil, index.memory)
            let insert = source == .disk ? memory.insertFromDisk : memory.insert
            insert(image, key, base, request.rendering.isCropped, timeToLive)
            index.add(key, to: resourceKey)
            // A concurrent replacement may have searched the cache before the image was in it.
            if isOutdated(image) { memory.images.remove(key) }
        }

        private func isOutdated(_ image: Image) -> Bool {
            guard let last = index.state.withLock({ $0.loads[resourceKey]?.replacement }) else { return false }
            return last.moment > moment && last.provenance?.checksum != image.encodedChecksum
        }
    }

    /// The bytes of a resource that take the place of others.
    struct Replacement: Sendable {
        let index: RenditionIndex
        let resourceKey: String
        let baseKey: CacheKey?
        /// The record of the bytes; `nil` if the resource has none any more.
        let provenance: Image.Provenance?

        /// Records that the resource now has these bytes, and removes renditions made from any other bytes.
        ///
        /// Images whose bytes are unknown, because the application inserted them, are removed at the first call only:
        /// after it they may have been made from the new bytes.
        func record(isRepeated: Bool = false) {
            let keys = index.state.withLock { state in
                state.moment += 1
                state.loads[resourceKey]?.replacement = (state.moment, provenance)
                return state.keys[resourceKey] ?? []
            }
            let memory = index.memory
            // Another rendition may have been made from the new bytes already.
            func isOld(_ image: Image?) -> Bool {
                image?.encodedChecksum.map { $0 != provenance?.checksum } ?? !isRepeated
            }
            for key in keys where isOld(memory.images.peek(key)) { memory.images.remove(key) }
            if let baseKey { memory.removeAll(forBase: baseKey, where: isOld) }
        }
    }

    /// Returns the replacement of a request's bytes by those of this record, or by none.
    func replacement(of request: ImageRequest, by provenance: Image.Provenance?) -> Replacement {
        Replacement(index: self, resourceKey: request.resourceKey, baseKey: request.baseKey, provenance: provenance)
    }

    /// Adds a key; each time that the index has doubled, the keys of evicted images are removed.
    func add(_ key: CacheKey, to resourceKey: String) {
        let crowded = state.withLock { state -> [String: Set<CacheKey>]? in
            state.keys[resourceKey, default: []].insert(key)
            return state.keys.count >= state.sweepThreshold ? state.keys : nil
        }
        guard let crowded else { return }
        // An evicted image that is still in use, as one on screen, would be found again.
        let evicted = crowded.mapValues { $0.filter { !memory.images.contains($0) && !memory.images.isInUse($0) } }
        state.withLock { state in
            for (resourceKey, keys) in evicted {
                state.keys[resourceKey]?.subtract(keys)
                if state.keys[resourceKey]?.isEmpty == true { state.keys[resourceKey] = nil }
            }
            state.sweepThreshold = max(512, state.keys.count * 2)
        }
    }
}
