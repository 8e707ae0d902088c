/// Regions that were released recently and are kept for the next allocations, whose first access they save.
package struct RecentRegions {
    /// The maximum size of all regions: 4 MiB.
    package static let maximumByteCount = 4 << 20

    package static let maximumCount = 64

    private var regions: [MemoryRegion] = []

    /// The size of all regions.
    package private(set) var byteCount = 0

    package init() { regions.reserveCapacity(Self.maximumCount + 1) }

    /// Adds a released region.
    ///
    /// - Returns: The regions that no longer fit, the oldest first; the caller unmaps them.
    package mutating func insert(_ region: MemoryRegion) -> [MemoryRegion] {
        guard region.byteCount <= Self.maximumByteCount else { return [region] }
        regions.append(region)
        byteCount += region.byteCount
        var surplus: [MemoryRegion] = []
        while byteCount > Self.maximumByteCount || regions.count > Self.maximumCount {
            surplus.append(regions.removeFirst())
            byteCount -= surplus.last?.byteCount ?? 0
        }
        return surplus
    }

    /// Removes and returns the smallest region of at least `needed` bytes, and at most twice that.
    package mutating func remove(for needed: Int) -> MemoryRegion? {
        var best: Int?
        for (index, region) in regions.enumerated() where region.byteCount >= needed && region.byteCount / 2 <= needed {
            if let best, regions[best].byteCount <= region.byteCount { continue }
            best = index
        }
        guard let best else { return nil }
        byteCount -= regions[best].byteCount
        return regions.remove(at: best)
    }

    package mutating func removeAll() -> [MemoryRegion] {
        defer { (regions, byteCount) = ([], 0) }
        return regions
    }
}
