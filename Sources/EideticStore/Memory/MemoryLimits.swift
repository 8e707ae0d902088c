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
        return ByteCount(min(physical, groups.limit ?? .max))
    }

    private static var physical: Int { max(0, sysconf(Int32(_SC_PHYS_PAGES))) * max(0, sysconf(Int32(_SC_PAGESIZE))) }
}

/// The control groups of this process, as files of the kernel.
struct ControlGroups {
    let root: String
    let fileSystem: FileSystem

    /// The lowest limit from the process's groups up to the root.
    var limit: Int? { limitFiles.compactMap(number(in:)).min() }

    /// Every file that may hold a limit.
    var limitFiles: [String] {
        text(of: "/proc/self/cgroup").split(separator: "\n").flatMap { line -> [String] in
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return [] }
            if fields[1].isEmpty { return files("/sys/fs/cgroup", fields[2], "memory.max") }
            guard fields[1].split(separator: ",").contains("memory") else { return [] }
            return files("/sys/fs/cgroup/memory", fields[2], "memory.limit_in_bytes")
        }
    }

    /// The file `name` in a group and in all groups above it.
    private func files(_ mount: String, _ group: Substring, _ name: String) -> [String] {
        var parts = group.split(separator: "/")
        var files = ["\(mount)/\(name)"]
        while !parts.isEmpty {
            files.append("\(mount)/\(parts.joined(separator: "/"))/\(name)")
            parts.removeLast()
        }
        return files
    }

    private func number(in path: String) -> Int? {
        Int(text(of: path).prefix { $0 != "\n" })
    }

    private func text(of path: String) -> String {
        guard let bytes = try? fileSystem.contents(of: root + path) else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }
}
