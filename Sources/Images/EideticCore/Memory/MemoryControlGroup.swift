/// A control group that limits the memory of this process, or a parent of one.
package struct MemoryControlGroup {
    let limitFile: String
    let usageFile: String
    /// The file of version 2 that announces that the limit was reached.
    let eventsFile: String?
    /// The file of version 2 on which a trigger for stalls is set.
    let stallFile: String?
    /// The file of version 1 that registers thresholds, and that for the kernel's opinion on reclaim.
    let thresholds: (control: String, level: String)?
    let statisticsFile: String
    let reclaimableName: String

    /// Returns the groups above this process that may have a limit, from the contents of `/proc/self/cgroup`.
    package static func all(in text: String, mounts: (unified: [String], memory: String) = standardMounts)
        -> [MemoryControlGroup]
    {
        text.split(separator: "\n").flatMap { line -> [MemoryControlGroup] in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3 else { return [] }
            if parts[0] == "0" {
                return mounts.unified.flatMap { mount in
                    ancestors(of: parts[2]).map { unified(at: mount + $0, isRoot: $0.isEmpty) }
                }
            }
            guard parts[1].split(separator: ",").contains("memory") else { return [] }
            return ancestors(of: parts[2]).map { legacy(at: mounts.memory + $0) }
        }
    }

    package static var standardMounts: (unified: [String], memory: String) {
        (["/sys/fs/cgroup", "/sys/fs/cgroup/unified"], "/sys/fs/cgroup/memory")
    }

    /// Returns a path and its ancestors: `/a/b`, `/a`, and the root, which is empty.
    private static func ancestors(of path: String) -> [String] {
        let names = path.pathParts.filter { !$0.isEmpty }
        return (0...names.count).reversed().map { count in names.prefix(count).map { "/\($0)" }.joined() }
    }

    /// Returns the group of a directory of version 2, without those that contain it.
    package static func unified(at path: String, isRoot: Bool = false) -> MemoryControlGroup {
        MemoryControlGroup(
            limitFile: "\(path)/memory.max",
            usageFile: "\(path)/memory.current",
            eventsFile: "\(path)/memory.events",
            // The root's stalls are those of the machine.
            stallFile: isRoot ? nil : "\(path)/memory.pressure",
            thresholds: nil,
            statisticsFile: "\(path)/memory.stat",
            reclaimableName: "inactive_file"
        )
    }

    private static func legacy(at path: String) -> MemoryControlGroup {
        MemoryControlGroup(
            limitFile: "\(path)/memory.limit_in_bytes",
            usageFile: "\(path)/memory.usage_in_bytes",
            eventsFile: nil,
            stallFile: nil,
            thresholds: ("\(path)/cgroup.event_control", "\(path)/memory.pressure_level"),
            statisticsFile: "\(path)/memory.stat",
            reclaimableName: "total_inactive_file"
        )
    }

    /// Returns the limit and what of it is available, with reclaimable caches; `nil` without a limit.
    package func share(files: FileSystem, machineMemory: Int) -> MemoryShare? {
        guard let limit = number(at: limitFile, files: files), limit < machineMemory else { return nil }
        guard let usage = number(at: usageFile, files: files) else { return nil }
        let statistics = text(at: statisticsFile, files: files) ?? ""
        let reclaimable = MemoryPressureRules.value(named: reclaimableName, in: statistics) ?? 0
        return MemoryShare(available: limit - usage + reclaimable, limit: limit, usage: usage)
    }

    private func number(at path: String, files: FileSystem) -> Int? {
        text(at: path, files: files).flatMap { Int($0.prefix { $0 != "\n" }) }
    }

    private func text(at path: String, files: FileSystem) -> String? {
        (try? files.contents(of: path, limit: 1 << 16)).map { String(decoding: $0, as: UTF8.self) }
    }
}
