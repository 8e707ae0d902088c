import Glibc

/// The allocator of memory for pixels.
///
/// Memory of some size has pages of its own, which go back to the system when it is released. In an allocator's arenas
/// it would leave gaps between smaller allocations, and a process would keep several times what its caches hold.
package enum PixelMemory {
    /// Allocated memory, to be released once with ``PixelMemory/deallocate(_:)``.
    package struct Block: @unchecked Sendable {
        // Safe to send: an address, which only its owner uses.
        package let memory: UnsafeMutableRawPointer
        /// The pages of the memory; `nil` if it is the allocator's.
        let region: MemoryRegion?
        /// The loan that the memory belongs to; 0 if it is this process's own.
        var loan = 0

        /// A Boolean value indicating whether the memory is this process's own.
        package var isOwn: Bool { loan == 0 }
    }

    /// The size from which memory has pages of its own: 32 KiB.
    package static let minimumMappedByteCount = 32 << 10

    /// The regions of this process that were released recently.
    private static let recentRegions = Guarded(RecentRegions())

    /// Allocates uncleared memory.
    ///
    /// - Parameters:
    ///   - byteCount: The number of bytes.
    ///   - mayBeLent: `false` for memory that is no result, and may outlive a loan.
    /// - Returns: `nil` if there is not enough.
    package static func allocate(byteCount: Int, mayBeLent: Bool = true) -> Block? {
        if mayBeLent, let block = LentMemory.allocate(byteCount: byteCount) { return block }
        let isMapped = byteCount >= minimumMappedByteCount && usesMappings
        guard let block = isMapped ? map(byteCount: byteCount) : allocateSmall(byteCount: byteCount) else { return nil }
        AllocationMeter.shared.record(byteCount: byteCount)
        return block
    }

    /// Allocates memory whose bytes are zero, as ``allocate(byteCount:mayBeLent:)`` does.
    package static func allocateCleared(byteCount: Int, mayBeLent: Bool = true) -> Block? {
        guard let block = allocate(byteCount: byteCount, mayBeLent: mayBeLent) else { return nil }
        // Large regions are new, and so cleared by the system, when they are accessed.
        let isNew = block.region != nil && byteCount > RecentRegions.maximumByteCount
        if !isNew { memset(block.memory, 0, byteCount) }
        return block
    }

    package static func deallocate(_ block: Block) {
        guard block.loan == 0 else { return LentMemory.deallocate(block.memory, of: block.loan) }
        guard let region = block.region else { return free(block.memory) }
        for surplus in recentRegions.withLock({ $0.insert(region) }) { surplus.unmap() }
    }

    /// Returns the memory of released regions to the system.
    package static func releaseUnused() {
        for region in recentRegions.withLock({ $0.removeAll() }) { region.unmap() }
    }

    /// `false` under the address sanitizer, which finds overflows of its own allocations only.
    private static let usesMappings = dlsym(nil, "__asan_init") == nil

    private static func allocateSmall(byteCount: Int) -> Block? {
        var memory: UnsafeMutableRawPointer?
        guard posix_memalign(&memory, 64, max(1, byteCount)) == 0, let memory else { return nil }
        return Block(memory: memory, region: nil)
    }

    private static func map(byteCount: Int) -> Block? {
        // More than any address space, and not to be rounded up.
        guard byteCount < 1 << 56 else { return nil }
        let needed = MemoryRegion.roundedUp(byteCount)
        if let recent = recentRegions.withLock({ $0.remove(for: needed) }) {
            // The memory of the rest goes back, so that a small image does not keep that of a large one.
            recent.discard(from: needed)
            return recent.pointer.map { Block(memory: $0, region: recent) }
        }
        // A process may have as many mappings as the system allows, and yet memory in the allocator.
        guard let region = mapNew(byteCount: needed) else { return allocateSmall(byteCount: byteCount) }
        return region.pointer.map { Block(memory: $0, region: region) }
    }

    private static func mapNew(byteCount: Int) -> MemoryRegion? {
        if let region = MemoryRegion.map(byteCount: byteCount) { return region }
        // Released regions may be what is missing.
        releaseUnused()
        return MemoryRegion.map(byteCount: byteCount)
    }
}
