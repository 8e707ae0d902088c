import CLinux
package import EideticCore
import Glibc

/// The transfer process that has a directory, as its lock file names it.
package struct ServiceOwner {
    private let directory: String
    private let files = FileSystem()

    package init(of directory: String) { self.directory = directory }

    /// The path of the file that the process has locked.
    package static func lockPath(in directory: String) -> String { "\(directory)/lock" }

    /// The paths of the sockets at which the process listens; empty if no process has the directory.
    package var socketPaths: [String] {
        guard let file = try? files.open(Self.lockPath(in: directory), flags: O_RDONLY | O_NOFOLLOW),
            // Without an owner the paths are those of an earlier process.
            eidetic_find_lock_owner(file.rawValue) > 0,
            let bytes = try? files.bytes(of: file, at: 0, count: Self.longestList)
        else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init).filter {
            $0.hasPrefix("/")
        }
    }

    /// Records the paths of the sockets in the file that this process has locked.
    package static func record(
        _ paths: [String],
        in file: borrowing FileDescriptor,
        with files: FileSystem
    ) throws(SystemError) {
        let bytes = Array(paths.map { "\($0)\n" }.joined().utf8.prefix(longestList))
        try files.truncate(file, to: 0)
        try files.write(bytes, to: file, at: 0)
    }

    private static let longestList = 4_096
}
