package import EideticCore
import Glibc

/// The place of the applications' control groups in the hierarchy of version 2.
package struct GroupHierarchy: Sendable, Hashable {
    /// The directory in which the groups of applications are created.
    package let path: String

    /// Creates the directory below this process's own group, or at a given path; throws if groups cannot be made there,
    /// or if a process cannot begin in them.
    package init(at path: String) throws(SystemError) {
        if mkdir(path, 0o755) != 0, errno != EEXIST { throw SystemError(.mkdir, errorNumber: errno, path: path) }
        for name in ["cgroup.procs", "cgroup.freeze"] where access("\(path)/\(name)", W_OK) != 0 {
            throw SystemError(.access, errorNumber: errno, path: "\(path)/\(name)")
        }
        self.path = path
    }

    /// Returns the directory of this process's group of version 2; `nil` if no such hierarchy is mounted.
    package static var ownGroup: String? { group(of: getpid()) }

    /// Returns the directory of a process's group of version 2; `nil` if it cannot be seen here.
    package static func group(of process: Int32) -> String? {
        guard let groups = KernelFile.read("/proc/\(process)/cgroup"),
            let mounts = KernelFile.read("/proc/self/mountinfo")
        else { return nil }
        return ownGroup(groups: groups, mounts: mounts)
    }

    /// Combines the text of `/proc/self/cgroup` with that of `/proc/self/mountinfo`.
    package static func ownGroup(groups: String, mounts: String) -> String? {
        guard let line = groups.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else { return nil }
        let group = String(line.dropFirst(3))
        for mount in mounts.split(separator: "\n") {
            let fields = mount.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            guard let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count, fields[dash + 1] == "cgroup2",
                fields.count > 4
            else { continue }
            let root = fields[3]
            let point = fields[4]
            // A mount may show a part of the hierarchy only.
            if root == "/" { return group == "/" ? point : point + group }
            if group == root || group.hasPrefix(root + "/") { return point + group.dropFirst(root.count) }
        }
        return nil
    }

    /// Returns the place of the groups of a configuration, without creating it; `nil` if signals are selected or no
    /// hierarchy is mounted.
    package static func path(for configuration: SupervisorConfiguration, directory: String) -> String? {
        if configuration.freezer == .signals { return nil }
        if let given = configuration.controlGroup { return given }
        guard let own = ownGroup else { return nil }
        // Several supervisors of one group have different runtime directories.
        var status = stat()
        let isKnown = stat(directory, &status) == 0
        return "\(own)/eidetic-\(isKnown ? UInt64(status.st_ino) : 0)"
    }

    /// The groups that exist, by their names.
    package var groupNames: [String] {
        KernelFile.names(in: path).filter { name in
            var status = stat()
            return lstat("\(path)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        }
    }
}
