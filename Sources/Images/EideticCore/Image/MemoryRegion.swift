import Glibc

/// A range of pages of this process.
package struct MemoryRegion: Sendable, Equatable {
    package let address: UInt
    package let byteCount: Int

    /// The size of a huge page: 2 MiB on x86-64 and arm64.
    private static let hugePageSize = 2 << 20

    private static let pageSize = Int(getpagesize())

    static func roundedUp(_ byteCount: Int) -> Int { (byteCount + pageSize - 1) / pageSize * pageSize }

    var pointer: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: address) }

    /// Maps new pages; `nil` if there is not enough memory.
    ///
    /// Twelve megapixels occupy 12,000 small pages, and the first access to them takes a fifth of the time of decoding
    /// a JPEG. So huge pages are requested from 4 MB on; a system without free huge pages uses small ones.
    static func map(byteCount: Int) -> MemoryRegion? {
        guard byteCount >= 2 * hugePageSize else {
            let region = mapPages(byteCount: byteCount)
            region?.populate()
            return region
        }
        guard let region = mapPages(byteCount: byteCount + hugePageSize) else { return mapPages(byteCount: byteCount) }
        let start = (region.address + UInt(hugePageSize) - 1) / UInt(hugePageSize) * UInt(hugePageSize)
        let aligned = MemoryRegion(address: start, byteCount: byteCount)
        region.prefix(Int(start - region.address))?.unmap()
        region.suffix(from: Int(start - region.address) + byteCount)?.unmap()
        // The remainder stays in small pages, so that an image does not occupy more memory than necessary.
        madvise(aligned.pointer, byteCount / hugePageSize * hugePageSize, MADV_HUGEPAGE)
        return aligned
    }

    private static func mapPages(byteCount: Int) -> MemoryRegion? {
        let memory = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else { return nil }
        return MemoryRegion(address: UInt(bitPattern: memory), byteCount: byteCount)
    }

    /// Accesses all pages at once, which takes a fraction of the time of their faults; before Linux 5.14 nothing.
    private func populate() { madvise(pointer, byteCount, Self.populateWrite) }

    /// `MADV_POPULATE_WRITE`, which the C library's headers lack.
    private static let populateWrite: Int32 = 23

    /// Returns the memory of the pages from `offset` on to the system; they stay mapped.
    func discard(from offset: Int) {
        guard let pointer, offset < byteCount else { return }
        madvise(pointer + offset, byteCount - offset, MADV_DONTNEED)
    }

    /// Returns the pages to the system; only their memory if the process has too many mappings to split one.
    func unmap() {
        guard munmap(pointer, byteCount) != 0 else { return }
        madvise(pointer, byteCount, MADV_DONTNEED)
    }

    /// Returns the first `count` bytes; `nil` if there are none.
    private func prefix(_ count: Int) -> MemoryRegion? {
        count > 0 ? MemoryRegion(address: address, byteCount: count) : nil
    }

    /// Returns the bytes from `offset` on; `nil` if there are none.
    private func suffix(from offset: Int) -> MemoryRegion? {
        guard offset < byteCount else { return nil }
        return MemoryRegion(address: address + UInt(offset), byteCount: byteCount - offset)
    }
}
