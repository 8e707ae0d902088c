internal import EideticCore

/// The control groups of this process, read from the kernel's files.
struct ControlGroups {
    let root: String
    let fileSystem: FileSystem

    /// The lowest limit from the process's groups up to the root.
    var limit: Int? { memoryFiles.compactMap { number(in: $0.limit) }.min() }

    /// The lowest number of bytes that any of the groups still leaves.
    var available: Int? {
        memoryFiles.compactMap { group in
            guard let limit = number(in: group.limit), let usage = number(in: group.usage) else { return nil }
            return max(0, limit - usage)
        }.min()
    }

    /// The kernel's estimate of the bytes that are available without swapping.
    var availableOnMachine: Int? {
        let line = text(of: "/proc/meminfo").split(separator: "\n").first { $0.hasPrefix("MemAvailable:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
    }

    /// The files with the limit and the usage of every group that the process is in.
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

    /// Returns the directories of a group and of all groups above it.
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
