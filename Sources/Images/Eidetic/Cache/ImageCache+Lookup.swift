public import EideticCore
package import EideticStore

extension ImageCache {
    /// An image that was found, and the tier that had it.
    package struct Hit: Sendable {
        /// The image; `nil` only if the configuration's `decodesOnRead` is false.
        package let image: Image?
        package let source: ImageSource
        /// The encoded bytes; `nil` if they were not read.
        package let bytes: [UInt8]?
        /// The metadata of the disk entry; `nil` if it was not read.
        package let metadata: DiskCache.Metadata?
    }

    /// Returns the image if it, or a larger image of the same bytes, is in memory; see ``subscript(_:)``.
    package func memoryImage(for key: Key) -> Image? { tier.image(for: resolved(key)) }

    /// The image from memory, if it or a larger image of the same bytes is there; found at once, on any thread.
    ///
    /// For the content modes that crop or distort, only the exact image is found.
    ///
    /// - Complexity: O(1), with one short lock and without allocation.
    public subscript(_ key: Key) -> Image? { memoryImage(for: key) }

    /// Returns the image from memory, else from disk.
    ///
    /// Concurrent look-ups of the same image share one read and one decode. After a hit on disk the image is inserted
    /// into memory, if `tiers` contains it.
    ///
    /// - Parameters:
    ///   - key: The image's key.
    ///   - tiers: The tiers to search; both by default.
    /// - Returns: `nil` if no tier has the image.
    /// - Throws: `cancelled` as soon as the task is cancelled, and the errors of reading and decoding.
    nonisolated(nonsending) public func image(
        for key: Key,
        in tiers: Tiers = .all
    ) async throws(EideticError) -> Image? {
        try await lookup(key, in: tiers)?.image
    }

    /// Returns the image with the tier that had it.
    ///
    /// Concurrent look-ups of the same image share one read and one decode. After a hit on disk the image is inserted
    /// into memory, if `tiers` contains it.
    ///
    /// - Parameters:
    ///   - key: The image's key.
    ///   - tiers: The tiers to search; both by default.
    ///   - includingData: A Boolean value indicating whether the bytes are read from disk even if the image is in
    ///     memory, for example for an animation; false by default.
    ///   - priority: The priority of the look-up.
    /// - Returns: `nil` if no tier has the image.
    /// - Throws: `cancelled` as soon as the task is cancelled, and the errors of reading and decoding.
    nonisolated(nonsending) package func lookup(
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
        let lookup = CacheLookup(imageKey: key.imageKey, fillsMemory: tiers.contains(.memory))
        return try await lookups.value(for: lookup, priority: priority) { job throws(EideticError) in
            guard let found = try await self.storedImage(for: key) else { return nil }
            let bytes = found.entry.bytes
            let tier = lookup.fillsMemory ? self.tier : nil
            return try await self.stage.run(decoding: bytes, by: self.stored.policy(for: key), in: job.context) {
                [stored = self.stored] context throws(EideticError) in
                try stored.hit(from: found, for: key, filling: tier, context: context)
            }
        }
    }

    /// Returns the encoded bytes on disk, even if the image is in memory.
    nonisolated(nonsending) public func bytes(for key: Key) async throws(EideticError) -> [UInt8]? {
        try await storedImage(for: resolved(key))?.entry.bytes
    }

    /// Returns the disk entry of the image itself, else that of its resource.
    private func storedImage(for key: Key) async throws(EideticError) -> StoredImages.Found? {
        try await disk?.lookup.load { [stored] disk throws(EideticError) in try stored.find(key, in: disk) }
    }
}
