import Glibc

/// Where the memory for pixels comes from.
package enum PixelMemory {
    /// A large page of memory: 2 MiB on the processors that Linux calls x86-64 and arm64.
    private static let hugePageSize = 2 << 20

    /// Takes so many bytes, not cleared, to be given back with `free`; `nil` where the machine has none.
    ///
    /// Twelve megapixels are 12,000 small pages, and to fill them in for the first time takes a fifth of the time of
    /// decoding a JPEG. So whole large pages are asked for; where the system has none, it gives small ones.
    package static func allocate(byteCount: Int) -> UnsafeMutableRawPointer? {
        let isLarge = byteCount >= 2 * hugePageSize
        var memory: UnsafeMutableRawPointer?
        guard posix_memalign(&memory, isLarge ? hugePageSize : 64, max(1, byteCount)) == 0 else { return nil }
        // The rest stays small pages: a picture shall not take more memory than it needs.
        if isLarge { madvise(memory, byteCount / hugePageSize * hugePageSize, MADV_HUGEPAGE) }
        return memory
    }
}
