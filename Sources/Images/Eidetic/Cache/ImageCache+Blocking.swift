public import EideticCore
package import EideticStore
public import FoundationEssentials

extension ImageCache {
    /// The blocking forms of the cache's functions, for threads that may block; not for the main thread.
    public var blocking: Blocking { Blocking(cache: self) }

    /// A view of a cache whose functions read, write, decode and encode on the calling thread.
    public struct Blocking: Sendable {
        let cache: ImageCache

        /// Returns the image from memory, else from disk, as ``ImageCache/image(for:in:)`` does.
        public func image(for key: Key, in tiers: Tiers = .all) throws(EideticError) -> Image? {
            if tiers.contains(.memory), let image = cache.memoryImage(for: key) { return image }
            let key = cache.resolved(key)
            let tier = tiers.contains(.memory) ? cache.tier : nil
            guard tiers.contains(.disk), let disk = cache.disk?.lookup,
                let found = try cache.stored.find(key, in: disk)
            else { return nil }
            return try cache.stored.hit(from: found, for: key, filling: tier, context: JobContext()).image
        }

        /// Returns the encoded bytes on disk, even if the image is in memory.
        public func bytes(for key: Key) throws(EideticError) -> [UInt8]? {
            guard let disk = cache.disk?.lookup else { return nil }
            return try cache.stored.find(cache.resolved(key), in: disk)?.entry.bytes
        }

        /// Returns the tiers that have an image, or its resource; the disk entry is not verified.
        package func tiers(containing key: Key, among tiers: Tiers = .all) throws(EideticError) -> Tiers {
            var found = cache.tiersInMemory(containing: key, among: tiers)
            guard tiers.contains(.disk), let disk = cache.disk else { return found }
            if try cache.stored.contain(cache.resolved(key), in: disk.lookup) { found.insert(.disk) }
            return found
        }

        /// Returns whether one of the tiers has an image.
        public func contains(_ key: Key, in tiers: Tiers = .all) throws(EideticError) -> Bool {
            try !self.tiers(containing: key, among: tiers).isEmpty
        }

        /// Inserts an image as ``ImageCache/insert(_:bytes:for:in:timeToLive:)`` does; when this function throws, it
        /// may be in memory only.
        public func insert(
            _ image: Image,
            bytes: (any ContiguousBytes)? = nil,
            for key: Key,
            in tiers: Tiers = .all,
            timeToLive: Duration? = nil
        ) throws(EideticError) {
            let bytes = bytes?.array
            let lifetime = DiskCache.Metadata(timeToLive: timeToLive)
            let work = tiers.contains(.disk) ? cache.beginDiskWork() : nil
            defer { _ = try? work?.get().end() }
            let image = try image.decodedSynchronously()
            let (tier, key, disk) = (cache.tier, cache.resolved(key), cache.disk)
            let destination = try tier.insert(image, bytes: bytes, for: key, in: tiers, metadata: lifetime, on: disk)
            guard let disk, try work?.get() != nil else { return }
            let limit = cache.stage.limits.animationBytes
            let whole = bytes == nil ? try image.withAllFramesSynchronously(within: limit) : image
            let encoded = try cache.stored.serialize(whole, bytes: bytes, for: destination.diskKey)
            let known = try? disk.lookup.original(for: destination.diskKey)
            let metadata = destination.metadata.describing(image).replacing(known, by: encoded, in: disk)
            try disk.blocking.insert(encoded, for: destination.diskKey, metadata: metadata)
        }

        /// Inserts the encoded bytes of an image as ``ImageCache/insert(bytes:for:timeToLive:)`` does.
        public func insert(
            bytes: some ContiguousBytes,
            for key: Key,
            timeToLive: Duration? = nil
        ) throws(EideticError) {
            try insert(bytes: bytes.array, for: key, metadata: DiskCache.Metadata(timeToLive: timeToLive))
        }

        package func insert(bytes: [UInt8], for key: Key, metadata: DiskCache.Metadata) throws(EideticError) {
            let work = try cache.beginDiskWork()?.get()
            defer { work?.end() }
            let key = cache.resolved(key)
            let encoded = try cache.stored.serialize(nil, bytes: bytes, for: key.text)
            cache.tier.replaceContent(of: key, by: bytes)
            guard let disk = cache.disk else { return }
            let known = try? disk.lookup.original(for: key.text)
            let replacing = metadata.replacing(known, by: encoded, in: disk)
            try disk.blocking.insert(encoded, for: key.text, metadata: replacing)
            cache.tier.replaceContent(of: key, by: bytes, isRepeated: true)
        }

        /// Removes an image: all of its sizes from memory, and its resource and any image stored without it from disk.
        public func remove(_ key: Key, from tiers: Tiers = .all) throws(EideticError) {
            if tiers.contains(.memory) { cache.tier.remove(cache.resolved(key)) }
            guard tiers.contains(.disk), let disk = cache.disk else { return }
            let key = cache.resolved(key)
            _ = try disk.blocking.remove(key.text)
            if !key.isFullImage { _ = try disk.blocking.remove(key.renditionText) }
        }

        /// Removes all images.
        public func removeAll(from tiers: Tiers = .all) throws(EideticError) {
            if tiers.contains(.memory) { cache.memory.images.removeAll() }
            if tiers.contains(.disk) { try cache.disk?.blocking.removeAll() }
        }
    }
}
