public import EideticCodecs
public import EideticCore
import EideticFetch
import EideticStore

extension ImageCache {
    /// Returns the tiers that have an image, or its resource; the disk entry is not verified.
    nonisolated(nonsending) package func tiers(
        containing key: Key,
        among tiers: Tiers = .all
    ) async throws(EideticError) -> Tiers {
        let found = tiersInMemory(containing: key, among: tiers)
        guard tiers.contains(.disk), let disk else { return found }
        let key = resolved(key)
        let isOnDisk = try await disk.lookup.load { [stored] disk throws(EideticError) in
            try stored.contain(key, in: disk)
        }
        return isOnDisk ? found.union(.disk) : found
    }

    /// Returns whether one of the tiers has an image.
    nonisolated(nonsending) public func contains(
        _ key: Key,
        in tiers: Tiers = .all
    ) async throws(EideticError) -> Bool {
        guard tiersInMemory(containing: key, among: tiers).isEmpty else { return true }
        return try await !self.tiers(containing: key, among: tiers.intersection(.disk)).isEmpty
    }

    func tiersInMemory(containing key: Key, among tiers: Tiers) -> Tiers {
        tiers.contains(.memory) && memoryImage(for: key) != nil ? .memory : .none
    }

    /// Returns the path of the resource's file on disk, which need not exist; the file begins with the encoded bytes.
    ///
    /// - Returns: `nil` if there is no disk cache.
    public func path(for key: Key) -> String? { disk?.path(for: resolved(key).text) }
}

// MARK: Removing
extension ImageCache {
    /// Removes an image: all of its sizes from memory, and its resource and any image stored without it from disk.
    ///
    /// It is removed from memory before the first suspension.
    nonisolated(nonsending) public func remove(_ key: Key, from tiers: Tiers = .all) async throws(EideticError) {
        if tiers.contains(.memory) { tier.remove(resolved(key)) }
        guard tiers.contains(.disk), let disk else { return }
        let key = resolved(key)
        try await disk.remove(key.text)
        if !key.isFullImage { try await disk.remove(key.renditionText) }
    }

    /// Removes all images, and the partial bodies of cancelled and failed loads; memory is emptied before the first
    /// suspension.
    nonisolated(nonsending) public func removeAll(from tiers: Tiers = .all) async throws(EideticError) {
        if tiers.contains(.memory) { memory.images.removeAll() }
        downloader?.parts.memory.removeAll()
        if tiers.contains(.disk), let disk { try await disk.removeAll() }
    }
}

extension ImageCache {
    /// Returns the placeholder of an image that is on disk; its bytes are neither read nor decoded.
    ///
    /// A placeholder is made when a pipeline stores an image that it has loaded and decoded, and when an application
    /// stores a whole image. It is kept when the image is revalidated. Images of which only the bytes were loaded or
    /// stored, without decoding, have none.
    ///
    /// - Parameter key: The image's key, in any size.
    /// - Returns: `nil` if the disk does not have the image, or has it without a placeholder.
    /// - Throws: `cancelled` as soon as the task is cancelled, and the errors of reading.
    nonisolated(nonsending) public func placeholder(for key: Key) async throws(EideticError) -> ImagePlaceholder? {
        guard let original = try await disk?.lookup.loadOriginal(for: resolved(key).text) else { return nil }
        return original.metadata.response.imagePlaceholder
    }
}
