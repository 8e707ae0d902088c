public import EideticCore
public import EideticStore

extension ImageCache {
    /// The tiers that have a picture, or what it can be made of; blocks on file work where the disk is asked.
    ///
    /// The disk's entry is not verified for this.
    public func tiers(containing key: Key, among tiers: Tiers = .all) throws(EideticError) -> Tiers {
        var found = Tiers.none
        if tiers.contains(.memory), memoryImage(for: key) != nil { found.insert(.memory) }
        if tiers.contains(.disk), let disk {
            let key = resolved(key)
            if try disk.contains(key.text) { found.insert(.disk) }
            if !key.isFullImage, try disk.contains(key.renditionText) { found.insert(.disk) }
        }
        return found
    }

    /// Whether one of the tiers has a picture; blocks on file work where the disk is asked.
    public func contains(_ key: Key, in tiers: Tiers = .all) throws(EideticError) -> Bool {
        try !self.tiers(containing: key, among: tiers).isEmpty
    }

    /// Whether one of the tiers has a picture, asked on a thread of the cache where the disk is asked.
    public func containsImage(for key: Key, in tiers: Tiers = .all) async throws(EideticError) -> Bool {
        if tiers.contains(.memory), memoryImage(for: key) != nil { return true }
        guard tiers.contains(.disk) else { return false }
        return try await pool.run { _ throws(EideticError) in try self.contains(key, in: .disk) }
    }

    /// The file in which the original is stored, or would be; it begins with the encoded bytes.
    ///
    /// `nil` where nothing is kept on disk.
    public func path(for key: Key) -> String? { disk?.path(for: resolved(key).text) }

    /// What stands beside the original on disk; `nil` where there is none; blocks on file work.
    public func metadata(for key: Key) throws(EideticError) -> DiskCache.Metadata? {
        try disk?.info(for: resolved(key).text)?.metadata
    }

    /// What the disk holds; O(1); blocks on file work.
    public var diskUsage: DiskCache.Usage { disk?.usage ?? DiskCache.Usage() }

    /// What the disk holds, asked on a thread of the disk cache.
    public func currentDiskUsage() async throws(EideticError) -> DiskCache.Usage {
        guard let disk else { return DiskCache.Usage() }
        return try await disk.currentUsage()
    }

    /// The bytes of all pictures in memory.
    public var memoryCost: ByteCount { memory.images.totalCost }

    /// The number of pictures in memory.
    public var memoryCount: Int { memory.images.count }
}

// MARK: Removing
extension ImageCache {
    /// Removes a picture; blocks on file work where the disk is concerned.
    ///
    /// From memory in all its sizes; from disk its original, and the picture itself where it was stored apart.
    public func remove(_ key: Key, from tiers: Tiers = .all) throws(EideticError) {
        if tiers.contains(.memory) { removeFromMemory(key) }
        guard tiers.contains(.disk), let disk else { return }
        let key = resolved(key)
        _ = try disk.remove(key.text)
        if !key.isFullImage { _ = try disk.remove(key.renditionText) }
    }

    /// Removes a picture: from memory at once, from disk on a thread of the disk cache.
    public func removeImage(for key: Key, from tiers: Tiers = .all) async throws(EideticError) {
        if tiers.contains(.memory) { removeFromMemory(key) }
        guard tiers.contains(.disk), let disk else { return }
        let key = resolved(key)
        try await disk.removeValue(for: key.text)
        if !key.isFullImage { try await disk.removeValue(for: key.renditionText) }
    }

    /// Removes all pictures; blocks on file work where the disk is concerned.
    public func removeAll(from tiers: Tiers = .all) throws(EideticError) {
        if tiers.contains(.memory) { memory.images.removeAll() }
        if tiers.contains(.disk) { try disk?.removeAll() }
    }

    /// Removes all pictures: from memory at once, from disk on a thread of the disk cache.
    public func removeAllImages(from tiers: Tiers = .all) async throws(EideticError) {
        if tiers.contains(.memory) { memory.images.removeAll() }
        if tiers.contains(.disk), let disk { try await disk.removeAllValues() }
    }

    private func removeFromMemory(_ key: Key) {
        let key = resolved(key)
        memory.images.remove(key.imageKey)
        if let base = key.baseKey { memory.removeAll(forBase: base) }
    }
}
