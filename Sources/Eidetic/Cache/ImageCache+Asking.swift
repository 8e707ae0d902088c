import EideticCodecs
public import EideticCore
public import EideticStore

extension ImageCache {
    /// A picture that a cache had.
    public struct Hit: Sendable {
        /// The picture; `nil` only where the cache does not decode what it reads.
        public let image: Image?
        /// Memory or disk.
        public let source: ImageSource
        /// The encoded bytes, where they were read.
        public let bytes: [UInt8]?
        /// What stands beside the bytes on disk, where they were read.
        public let metadata: DiskCache.Metadata?
    }

    /// The picture if it is in memory now, or a larger decode of the same original; returns at once, on any thread.
    ///
    /// - Complexity: O(1); takes no lock for long, allocates nothing for a key of its own.
    public func memoryImage(for key: Key) -> Image? {
        let key = resolved(key)
        guard let base = key.baseKey else { return memory.image(for: key.imageKey) }
        return memory.image(for: key.imageKey, base: base, size: key.rendering.size, mode: key.rendering.contentMode)
    }

    /// The picture if it is in memory now; see `memoryImage(for:)`.
    public subscript(_ key: Key) -> Image? { memoryImage(for: key) }

    /// The picture from memory, else from disk; blocks on file work and decoding.
    ///
    /// - Returns: `nil` where no tier that may be asked has it.
    /// - Throws: What reading and decoding throw.
    public func storedImage(for key: Key, in tiers: Tiers = .all) throws(EideticError) -> Image? {
        if tiers.contains(.memory), let image = memoryImage(for: key) { return image }
        guard tiers.contains(.disk), let stored = try stored(resolved(key)) else { return nil }
        return try makeHit(
            from: stored,
            for: resolved(key),
            fillsMemory: tiers.contains(.memory),
            context: JobContext()
        )?.image
    }

    /// The picture from memory, else from disk, read and decoded on threads of the caches.
    ///
    /// - Returns: `nil` where no tier that may be asked has it.
    /// - Throws: `cancelled` as soon as the task is cancelled, and what reading and decoding throw.
    public func image(for key: Key, in tiers: Tiers = .all) async throws(EideticError) -> Image? {
        try await lookup(key, in: tiers)?.image
    }

    /// The picture and where it was.
    ///
    /// All who ask for the same picture meanwhile share one read and one decode. A hit on disk fills memory, where that
    /// may be asked.
    ///
    /// - Parameters:
    ///   - key: What it is kept under.
    ///   - tiers: What may be asked.
    ///   - bringsBytes: Whether a picture that was in memory brings its bytes from disk as well, as for an animation of
    ///     which memory has the first frame. False by default.
    ///   - priority: How urgent it is.
    /// - Returns: `nil` where no tier that may be asked has it.
    /// - Throws: `cancelled` as soon as the task is cancelled, and what reading and decoding throw.
    public func lookup(
        _ key: Key,
        in tiers: Tiers = .all,
        includingData: Bool = false,
        priority: LoadPriority = .normal
    ) async throws(EideticError) -> Hit? {
        let key = resolved(key)
        if tiers.contains(.memory), let image = memoryImage(for: key) {
            let entry = includingData ? try await storedLater(key) : nil
            return Hit(image: image, source: .memory, bytes: entry?.bytes, metadata: entry?.metadata)
        }
        guard tiers.contains(.disk), disk != nil else { return nil }
        let job = LookupKey(picture: key.imageKey, fillsMemory: tiers.contains(.memory))
        return try await lookups.value(for: job, priority: priority) { work throws(EideticError) in
            guard let stored = try await self.storedLater(key) else { return nil }
            return try await self.pool.run(in: work.context) { context throws(EideticError) in
                try self.makeHit(from: stored, for: key, fillsMemory: job.fillsMemory, context: context)
            }
        }
    }

    /// The encoded bytes on disk, also of an animation whose first frame is in memory; blocks on file work.
    public func bytes(for key: Key) throws(EideticError) -> [UInt8]? { try stored(resolved(key))?.bytes }

    /// The encoded bytes on disk, read on a thread of the disk cache.
    public func storedBytes(for key: Key) async throws(EideticError) -> [UInt8]? {
        try await storedLater(resolved(key))?.bytes
    }

    /// What the disk has: the picture itself, else its original.
    private func stored(_ key: Key) throws(EideticError) -> DiskCache.Entry? {
        guard let disk else { return nil }
        for name in key.names {
            if let entry = try disk.read(name) { return try deserialized(entry, key: name) }
        }
        return nil
    }

    private func storedLater(_ key: Key) async throws(EideticError) -> DiskCache.Entry? {
        guard let disk else { return nil }
        for name in key.names {
            if let entry = try await disk.value(for: name) { return try deserialized(entry, key: name) }
        }
        return nil
    }

    private func deserialized(_ entry: DiskCache.Entry, key name: String) throws(EideticError) -> DiskCache.Entry {
        guard let decode = configuration.serializer.decode else { return entry }
        return DiskCache.Entry(key: entry.key, bytes: try decode(entry.bytes, name), metadata: entry.metadata)
    }

    /// Decodes what was read, and fills the memory.
    private func makeHit(
        from entry: DiskCache.Entry,
        for key: Key,
        fillsMemory: Bool,
        context: JobContext
    ) throws(EideticError) -> Hit? {
        guard configuration.decodesOnRead else {
            return Hit(image: nil, source: .disk, bytes: entry.bytes, metadata: entry.metadata)
        }
        // A twin may have made it since the memory was asked.
        if fillsMemory, let image = memory.image(for: key.imageKey) {
            return Hit(image: image, source: .memory, bytes: entry.bytes, metadata: entry.metadata)
        }
        let image = try decode(entry, for: key, context: context)
        if fillsMemory, configuration.keepsInMemory {
            // A smaller picture that was stored by itself does not know how large its original was.
            let base = entry.key == key.text ? key.baseKey : nil
            memory.insertFromDisk(image, for: key.imageKey, base: base, timeToLive: timeToLive(entry.metadata))
        }
        return Hit(image: image, source: .disk, bytes: entry.bytes, metadata: entry.metadata)
    }

    private func decode(
        _ entry: DiskCache.Entry,
        for key: Key,
        context: JobContext
    ) throws(EideticError) -> Image {
        // What was stored as the picture itself has been transformed already.
        let isDone = entry.key != key.text
        let rendering = isDone ? ImageRequest.Rendering(convertsToSRGB: key.rendering.convertsToSRGB) : key.rendering
        var options = rendering.decodeOptions(key.options, byteLimit: configuration.scaleDownLimit)
        options.scale = ImageScale.scale(fromName: key.text)
        let limits = configuration.decodeLimits
        let image = try entry.bytes.withUnsafeBufferPointer { bytes throws(EideticError) in
            let bytes = UnsafeRawBufferPointer(bytes)
            return try ImageDecoder.decode(bytes, options: options, limits: limits, context: context)
        }
        guard let transform = rendering.transform, !image.isAnimated || key.options.contains(.transformAnimatedImage),
            image.format != .svg || key.options.contains(.transformVectorImage)
        else { return image.recordingChecksum(of: entry.bytes) }
        return try transform.apply(to: image, context: context).recordingChecksum(of: entry.bytes)
    }
}

extension ImageCache.Key {
    /// The keys under which the disk may have it, in the order in which they are tried.
    fileprivate var names: [String] { isFullImage ? [text] : [renditionText, text] }
}
