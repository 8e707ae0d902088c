import Glibc

/// The allocator of memory for pixels.
package enum PixelMemory {
    /// The size of a huge page: 2 MiB on x86-64 and arm64.
    private static let hugePageSize = 2 << 20

    /// Allocates uncleared memory, to be released with `free`; returns `nil` if there is not enough.
    ///
    /// Twelve megapixels occupy 12,000 small pages, and the first access to them takes a fifth of the time of decoding
    /// a JPEG. So huge pages are requested; a system without free huge pages uses small ones.
    package static func allocate(byteCount: Int) -> UnsafeMutableRawPointer? {
        let isLarge = byteCount >= 2 * hugePageSize
        var memory: UnsafeMutableRawPointer?
        guard posix_memalign(&memory, isLarge ? hugePageSize : 64, max(1, byteCount)) == 0 else { return nil }
        // The remainder stays in small pages, so that an image does not occupy more memory than necessary.
        if isLarge { madvise(memory, byteCount / hugePageSize * hugePageSize, MADV_HUGEPAGE) }
        AllocationMeter.shared.record(byteCount: byteCount)
        return memory
    }
}
