public import EideticCore
internal import Glibc

/// How much memory the process may use, and how much of it the memory cache takes.
public enum MemoryLimits {
    /// The limit of a memory cache when nobody says otherwise: 15 % of what the process may use, at most 512 MiB.
    ///
    /// Read anew at each use. Reads some small files of the kernel: about 50 µs.
    public static var standard: ByteCount { standard(usable: usable()) }

    package static func standard(usable: ByteCount) -> ByteCount {
        ByteCount(min(usable.bytes / 100 * 15, ByteCount.mebibytes(512).bytes))
    }

    /// The memory that the process may use: the machine's, or less where its control groups say so.
    ///
    /// The lowest `memory.max` (version 2) and `memory.limit_in_bytes` (version 1) from the process's own groups up to
    /// the root count; what cannot be read limits nothing.
    ///
    /// - SeeAlso: The kernel's documentation, admin-guide/cgroup-v2 and admin-guide/cgroup-v1/memory.
    package static func usable(root: String = "", fileSystem: FileSystem = FileSystem()) -> ByteCount {
        let groups = ControlGroups(root: root, fileSystem: fileSystem)
        return ByteCount(min(physicalMemory, groups.limit ?? .max))
    }

    /// The memory that can still be taken: the machine's `MemAvailable`, or less where a control group leaves less.
    ///
    /// Reads some small files of the kernel: about 100 µs.
    package static func available(root: String = "", fileSystem: FileSystem = FileSystem()) -> ByteCount {
        let groups = ControlGroups(root: root, fileSystem: fileSystem)
        return ByteCount(min(groups.availableOnMachine ?? .max, groups.available ?? .max))
    }

    private static var physicalMemory: Int {
        max(0, sysconf(Int32(_SC_PHYS_PAGES))) * max(0, sysconf(Int32(_SC_PAGESIZE)))
    }
}

/// The control groups of this process, as files of the kernel.
struct ControlGroups {
    let root: String
    let fileSystem: FileSystem

    /// The lowest limit from the process's groups up to the root.
    var limit: Int? { memoryFiles.compactMap { number(in: $0.limit) }.min() }

    /// The least that one of the groups still leaves.
    var available: Int? {
        memoryFiles.compactMap { group in
            guard let limit = number(in: group.limit), let usage = number(in: group.usage) else { return nil }
            return max(0, limit - usage)
        }.min()
    }

    /// What the kernel thinks can be taken without swapping.
    var availableOnMachine: Int? {
        let line = text(of: "/proc/meminfo").split(separator: "\n").first { $0.hasPrefix("MemAvailable:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
    }

    /// The files that say what a group may use and does use, of every group that the process is in.
    private var memoryFiles: [(limit: String, usage: String)] {
        text(of: "/proc/self/cgroup").split(separator: "\n").flatMap { line -> [(limit: String, usage: String)] in
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return [] }
            if fields[1].isEmpty {
                return directories(under: "/sys/fs/cgroup", group: fields[2]).map {
                    ("\($0)/memory.max", "\($0)/memory.current")
                }
            }
            guard fields[1].split(separator: ",").contains("memory") else { return [] }
            return directories(under: "/sys/fs/cgroup/memory", group: fields[2]).map {
                ("\($0)/memory.limit_in_bytes", "\($0)/memory.usage_in_bytes")
            }
        }
    }

    /// The folders of a group and of all groups above it.
    private func directories(under mount: String, group: Substring) -> [String] {
        var directories = [mount]
        for part in group.split(separator: "/") { directories.append("\(directories[directories.count - 1])/\(part)") }
        return directories
    }

    private func number(in path: String) -> Int? {
        Int(text(of: path).prefix { $0 != "\n" })
    }

    private func text(of path: String) -> String {
        guard let bytes = try? fileSystem.contents(of: root + path) else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
