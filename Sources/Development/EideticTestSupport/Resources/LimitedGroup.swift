package import EideticCore
import Glibc

/// A control group of version 1 with a memory limit, for a supervisor and everything that it starts.
package final class LimitedGroup {
    /// A Boolean value indicating whether this process may make such groups.
    package static let isAvailable = access("\(parent)/memory.limit_in_bytes", W_OK) == 0

    private let path: String
    private static let parent = "/sys/fs/cgroup/memory"

    package init(mebibytes: Int) throws(SystemError) {
        path = "\(Self.parent)/eidetic-test-\(UInt32.random(in: 0...UInt32.max))"
        guard mkdir(path, 0o755) == 0 else { throw SystemError(.mkdir, errorNumber: errno, path: path) }
        let limit = "\(path)/memory.limit_in_bytes", text = "\(mebibytes << 20)"
        let file = open(limit, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        guard write(file, text, text.utf8.count) == text.utf8.count else {
            throw SystemError(.write, errorNumber: errno, path: limit)
        }
    }

    /// The words before those of a program that starts in the group.
    package var launcher: [String] { ["/bin/sh", "-c", "echo $$ > \(path)/cgroup.procs && exec \"$@\"", "sh"] }

    deinit { rmdir(path) }
}
