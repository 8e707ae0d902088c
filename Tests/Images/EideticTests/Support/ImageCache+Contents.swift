import Eidetic
import EideticCore
import EideticStore

/// The contents of the tiers of a cache without a key hook.
extension ImageCache {
    func metadata(for key: Key) async throws -> DiskCache.Metadata? {
        try await disk?.lookup.load { lookup throws(EideticError) in try lookup.info(for: key.text)?.metadata }
    }

    var diskUsage: DiskCache.Usage {
        get async throws { try await disk?.usage ?? DiskCache.Usage() }
    }

    var blockingDiskUsage: DiskCache.Usage { disk?.blocking.usage ?? DiskCache.Usage() }

    var memoryCost: ByteCount { memory.images.totalCost }

    var memoryCount: Int { memory.images.count }
}

extension ImagePipeline {
    /// Removes all images from memory; the disk cache keeps its entries.
    func removeAllFromMemory() { cache.memory.images.removeAll() }
}
