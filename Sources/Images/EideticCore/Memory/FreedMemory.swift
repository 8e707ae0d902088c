import CLinux

/// The treatment of freed memory by glibc's allocator; to be chosen before other threads begin.
package enum FreedMemory {
    /// Returns freed memory to the system.
    ///
    /// Otherwise the first large block that is freed raises the size from which blocks are mapped on their own, and
    /// tables that have grown leave their earlier storage in the heap.
    package static func returnToSystem() {
        mallopt(M_MMAP_THRESHOLD, 64 << 10)
        mallopt(M_TRIM_THRESHOLD, 64 << 10)
        mallopt(M_ARENA_MAX, 2)
    }

    /// Uses freed memory again, up to 8 MiB of each heap, instead of returning it to the system, for programs that
    /// allocate large blocks again and again, such as the bodies of responses.
    ///
    /// Otherwise each body is written to new pages: a fifth of the processor time of loading many small files.
    package static func keep() {
        mallopt(M_MMAP_THRESHOLD, 1 << 20)
        mallopt(M_TRIM_THRESHOLD, 8 << 20)
        mallopt(M_TOP_PAD, 256 << 10)
    }
}
