import EideticCodecs
public import EideticCore
public import EideticStore

extension ImageCache {
    /// An image that was found, and the tier that had it.
    public struct Hit: Sendable {
        /// The image; `nil` only if the configuration's `decodesOnRead` is false.
        public let image: Image?
        /// The tier.
        public let source: ImageSource
        /// The encoded bytes; `nil` if they were not read.
        public let bytes: [UInt8]?
        /// The metadata of the disk entry; `nil` if it was not read.
        public let metadata: DiskCache.Metadata?
    }

    /// Returns the image if it, or a larger image of the same bytes, is in memory; returns at once, on any thread.
    ///
    /// A larger image does not stand in for one with `fill` or `stretch`, whose proportions are others.
    ///
    /// - Complexity: O(1), with one short lock and without allocation.
    package func memoryImage(for key: Key) -> Image? {
        let key = resolved(key)
        guard let base = key.baseKey, !key.rendering.isCropped else { return memory.image(for: key.imageKey) }
        return memory.image(for: key.imageKey, base: base, size: key.rendering.size, mode: key.rendering.contentMode)
    }

    /// The image if it, or a larger image of the same bytes, is in memory; found at once, on any thread.
    ///
    /// - Complexity: O(1), with one short lock and without allocation.
    public subscript(_ key: Key) -> Image? { memoryImage(for: key) }

    /// Returns the image from memory, else from disk.
    ///
    /// - Parameters:
    ///   - key: The image's key.
    ///   - tiers: The tiers to search; both by default.
    /// - Returns: `nil` if no tier has the image.
    /// - Throws: `cancelled` as soon as the task is cancelled, and the errors of reading and decoding.
    public func image(for key: Key, in tiers: Tiers = .all) async throws(EideticError) -> Image? {
        try await lookup(key, in: tiers)?.image
    }

    /// Returns the image with the tier that had it.
    ///
    /// Concurrent look-ups of the same image share one read and one decode. A hit on disk fills memory, if that is
    /// among the tiers.
    ///
    /// - Parameters:
    ///   - key: The image's key.
    ///   - tiers: The tiers to search; both by default.
    ///   - includingData: A Boolean value indicating whether the bytes are read from disk also if the image is in
    ///     memory, as for an animation of which memory has the first frame; false by default.
    ///   - priority: The priority of the look-up.
    /// - Returns: `nil` if no tier has the image.
    /// - Throws: `cancelled` as soon as the task is cancelled, and the errors of reading and decoding.
    public func lookup(
        _ key: Key,
        in tiers: Tiers = .all,
        includingData: Bool = false,
        priority: LoadPriority = .normal
    ) async throws(EideticError) -> Hit? {
        let key = resolved(key)
        if tiers.contains(.memory), let image = memoryImage(for: key) {
            let entry = includingData ? try await storedImage(for: key)?.entry : nil
            return Hit(image: image, source: .memory, bytes: entry?.bytes, metadata: entry?.metadata)
        }
        guard tiers.contains(.disk), disk != nil else { return nil }
        let lookup = LookupKey(imageKey: key.imageKey, fillsMemory: tiers.contains(.memory))
        return try await lookups.value(for: lookup, priority: priority) { job throws(EideticError) in
            guard let stored = try await self.storedImage(for: key) else { return nil }
            let bytes = stored.entry.bytes
            let policy = self.stage.policy(for: key.rendering, options: key.options, name: key.text)
            return try await self.stage.run(decoding: bytes, by: policy, in: job.context) {
                context throws(EideticError) in
                try self.hit(from: stored, for: key, fillsMemory: lookup.fillsMemory, context: context)
            }
        }
    }

    /// Returns the encoded bytes on disk, also those of an animation whose first frame is in memory.
    public func bytes(for key: Key) async throws(EideticError) -> [UInt8]? {
        try await storedImage(for: resolved(key))?.entry.bytes
    }

    /// A disk entry that has an image, and the metadata of its resource, which decide about its freshness.
    struct StoredImage: Sendable {
        let entry: DiskCache.Entry
        let resource: DiskCache.Metadata
    }

    /// Returns the disk entry of the image itself, else that of its resource.
    private func storedImage(for key: Key) async throws(EideticError) -> StoredImage? {
        try await disk?.read { disk throws(EideticError) in try self.storedImage(for: key, in: disk) }
    }

    /// Returns the disk entry of the image itself, else that of its resource; blocks.
    func storedImage(for key: Key, in disk: DiskCache.Blocking) throws(EideticError) -> StoredImage? {
        for name in key.diskKeys {
            guard let entry = try disk.read(name),
                let resource = try resource(of: entry.metadata, for: key, in: disk)
            else { continue }
            let isDerived = DerivedImageRecord(entry.metadata) != nil
            let decoded = isDerived ? entry : try configuration.serializer.decoded(entry)
            return StoredImage(entry: decoded, resource: resource)
        }
        return nil
    }

    /// Returns the metadata that decide about the freshness of an entry; `nil` if it does not have the image of a key.
    ///
    /// A derived entry has the first frame, and depends on the resource that it was made from.
    func resource(
        of metadata: DiskCache.Metadata,
        for key: Key,
        in disk: DiskCache.Blocking
    ) throws(EideticError) -> DiskCache.Metadata? {
        guard let record = DerivedImageRecord(metadata) else { return metadata }
        let hasFrames = record.isStill || !key.options.needsFrames
        guard hasFrames, let original = try disk.original(for: key.text), record.describes(original) else { return nil }
        return original.metadata
    }
}

// MARK: Decoding
extension ImageCache {
    /// Decodes a disk entry, and inserts the image into memory.
    func hit(
        from stored: StoredImage,
        for key: Key,
        fillsMemory: Bool,
        context: JobContext
    ) throws(EideticError) -> Hit? {
        let entry = stored.entry
        guard configuration.decodesOnRead else {
            return Hit(image: nil, source: .disk, bytes: entry.bytes, metadata: entry.metadata)
        }
        // A concurrent look-up may have decoded it since memory was searched.
        if fillsMemory, let image = memory.image(for: key.imageKey) {
            return Hit(image: image, source: .memory, bytes: entry.bytes, metadata: entry.metadata)
        }
        let image = try decode(entry, for: key, context: context)
        if fillsMemory, configuration.keepsInMemory {
            // A smaller image that was stored by itself does not record the size of its resource.
            let base = entry.key == key.text ? key.baseKey : nil
            let timeToLive = timeToLive(stored.resource) ?? disk?.timeToLive(of: stored.resource)
            let isCropped = key.rendering.isCropped
            memory.insertFromDisk(image, for: key.imageKey, base: base, isCropped: isCropped, timeToLive: timeToLive)
        }
        return Hit(image: image, source: .disk, bytes: entry.bytes, metadata: entry.metadata)
    }

    private func decode(
        _ entry: DiskCache.Entry,
        for key: Key,
        context: JobContext
    ) throws(EideticError) -> Image {
        if let record = DerivedImageRecord(entry.metadata) {
            let policy = stage.policy(for: key.rendering, options: key.options, name: key.text)
            let image = try stage.decodeDerived(entry.bytes, by: policy, context: context)
            return record.restored(image, scale: key.rendering.scale ?? ImageScale.scale(fromName: key.text))
        }
        // An image that was stored by itself is transformed already.
        let isRendered = entry.key != key.text
        let plain = ImageRequest.Rendering(convertsToSRGB: key.rendering.convertsToSRGB, scale: key.rendering.scale)
        let rendering = isRendered ? plain : key.rendering
        let policy = stage.policy(for: rendering, options: key.options, name: key.text)
        let encodedImage = EncodedImage(entry.bytes, from: .disk)
        return try stage.makeRendition(of: encodedImage, by: policy, note: "of a cache", context: context).image
    }
}
