package import EideticCore
internal import Glibc

/// The memory that the process may use, and the default limit of memory caches.
package enum MemoryLimits {
    /// The default limit of a memory cache: 15 % of the memory that the process may use, at most 512 MiB.
    ///
    /// Each access reads some small files of the kernel, which takes about 50 µs.
    package static var standard: ByteCount { standard(usable: usable()) }

    /// Returns the default limit of a memory cache for a process that may use `usable` bytes.
    package static func standard(usable: ByteCount) -> ByteCount {
        ByteCount(min(usable.bytes / 100 * 15, ByteCount.mebibytes(512).bytes))
    }

    /// Returns the memory that the process may use: the machine's, or less if its control groups allow less.
    ///
    /// The lowest `memory.max` (version 2) and `memory.limit_in_bytes` (version 1) from the process's own groups up to
    /// the root apply; a file that cannot be read sets no limit.
    ///
    /// - SeeAlso: The kernel's documentation, admin-guide/cgroup-v2 and admin-guide/cgroup-v1/memory.
    package static func usable(root: String = "", fileSystem: FileSystem = FileSystem()) -> ByteCount {
        ByteCount(shares(root: root, fileSystem: fileSystem).map(\.limit).min() ?? physicalMemory)
    }

    /// Returns the memory that is still available: the machine's `MemAvailable`, or less if a control group has less,
    /// with the caches that the kernel can reclaim.
    ///
    /// Reads some small files of the kernel, which takes about 100 µs. It is the figure that memory pressure has.
    package static func available(root: String = "", fileSystem: FileSystem = FileSystem()) -> ByteCount {
        let machine = text(of: "\(root)/proc/meminfo", in: fileSystem)
        let available = MemoryPressureRules.value(named: "MemAvailable", in: machine) ?? .max
        return ByteCount(shares(root: root, fileSystem: fileSystem).map(\.available).reduce(available, min))
    }

    /// Returns what the control groups of this process allow, as far as that is less than the machine has.
    private static func shares(root: String, fileSystem: FileSystem) -> [MemoryShare] {
        let mounts = MemoryControlGroup.standardMounts
        let groups = MemoryControlGroup.all(
            in: text(of: "\(root)/proc/self/cgroup", in: fileSystem),
            mounts: (unified: mounts.unified.map { root + $0 }, memory: root + mounts.memory)
        )
        return groups.compactMap { $0.share(files: fileSystem, machineMemory: physicalMemory) }
    }

    private static func text(of path: String, in fileSystem: FileSystem) -> String {
        String(decoding: (try? fileSystem.contents(of: path)) ?? [], as: UTF8.self)
    }

    private static var physicalMemory: Int {
        max(0, sysconf(Int32(_SC_PHYS_PAGES))) * max(0, sysconf(Int32(_SC_PAGESIZE)))
    }
}
