public import EideticCore
package import EideticStore
public import FoundationEssentials

extension ImageCache {
    /// Inserts an image; it is in memory before the first suspension, and on disk when this function returns.
    ///
    /// Without its bytes the image is encoded, in its own format if possible. Otherwise animations become WebP, where
    /// equal frames in succession are one (GIF above 16,383 pixels a side), images with alpha PNG, and others JPEG of
    /// the best quality.
    ///
    /// An image smaller than its resource never replaces the resource: it is stored as a separate entry of its size.
    ///
    /// - Parameters:
    ///   - image: The image; a partial one is refused.
    ///   - bytes: The encoded bytes of the resource, if the caller has them.
    ///   - key: The image's key.
    ///   - tiers: The tiers to fill; both by default.
    ///   - timeToLive: The time after which the image has expired; by default the disk cache's maximum age.
    /// - Throws: `encodingFailed`, `invalidArgument` for a partial image, an impossible key, or a cropped image under a
    ///   key without a size, the errors of writing, and those of decoding if the image is not decoded yet. For an
    ///   animation without bytes also `limitExceeded` if its frames exceed the limit of `decodeLimits`, the error of a
    ///   frame, and `invalidArgument` while frames are arriving; it is then in memory only.
    nonisolated(nonsending) public func insert(
        _ image: Image,
        bytes: (any ContiguousBytes)? = nil,
        for key: Key,
        in tiers: Tiers = .all,
        timeToLive: Duration? = nil
    ) async throws(EideticError) {
        let metadata = DiskCache.Metadata(timeToLive: timeToLive)
        try await insert(image, bytes: bytes?.array, for: key, in: tiers, metadata: metadata)
    }

    nonisolated(nonsending) package func insert(
        _ image: Image,
        bytes: [UInt8]? = nil,
        for key: Key,
        in tiers: Tiers = .all,
        metadata: DiskCache.Metadata
    ) async throws(EideticError) {
        let work = tiers.contains(.disk) ? beginDiskWork() : nil
        defer { _ = try? work?.get().end() }
        let image = try await image.decoded()
        let key = resolved(key)
        let destination = try tier.insert(image, bytes: bytes, for: key, in: tiers, metadata: metadata, on: disk)
        guard let disk, let work = try work?.get() else { return }
        let whole = bytes == nil ? try await image.withAllFrames(within: stage.limits.animationBytes) : image
        let (encoded, described) = try await stage.run { _ throws(EideticError) in
            (
                try self.stored.serialize(whole, bytes: bytes, for: destination.diskKey),
                destination.metadata.describing(image)
            )
        }
        let known = try? await disk.lookup.loadOriginal(for: destination.diskKey)
        let metadata = described.replacing(known, by: encoded, in: disk)
        try await disk.insert(encoded, for: destination.diskKey, metadata: metadata, within: work)
    }

    /// Inserts the encoded bytes of an image into the disk cache.
    ///
    /// - Parameters:
    ///   - bytes: The encoded bytes.
    ///   - key: The image's key.
    ///   - timeToLive: The time after which the image has expired; by default the disk cache's maximum age.
    /// - Throws: `notAnImage` and the other errors of a header that cannot be read, and the errors of writing.
    nonisolated(nonsending) public func insert(
        bytes: some ContiguousBytes,
        for key: Key,
        timeToLive: Duration? = nil
    ) async throws(EideticError) {
        try await insert(bytes: bytes.array, for: key, metadata: DiskCache.Metadata(timeToLive: timeToLive))
    }

    nonisolated(nonsending) package func insert(
        bytes: [UInt8],
        for key: Key,
        metadata: DiskCache.Metadata
    ) async throws(EideticError) {
        let work = beginDiskWork()
        defer { _ = try? work?.get().end() }
        let key = resolved(key)
        let encoded = try await stage.run { [stored] _ throws(EideticError) in
            try stored.serialize(nil, bytes: bytes, for: key.text)
        }
        tier.replaceContent(of: key, by: bytes)
        guard let disk, let work = try work?.get() else { return }
        let known = try? await disk.lookup.loadOriginal(for: key.text)
        let metadata = metadata.replacing(known, by: encoded, in: disk)
        try await disk.insert(encoded, for: key.text, metadata: metadata, within: work)
        // Until now the disk had the previous bytes, and a look-up may have decoded those.
        tier.replaceContent(of: key, by: bytes, isRepeated: true)
    }

    /// Covers a write to disk from the call that decides it; `nil` if there is no disk cache.
    func beginDiskWork() -> Result<BackgroundWork, EideticError>? {
        disk.map { disk in Result { () throws(EideticError) in try disk.work.begin() } }
    }
}

extension DiskCache.Metadata {
    /// Creates the metadata of an entry that expires after a time; `nil` for the maximum age of its cache.
    init(timeToLive: Duration?) { self.init(expirationTime: timeToLive.map { .now + $0 }) }
}
