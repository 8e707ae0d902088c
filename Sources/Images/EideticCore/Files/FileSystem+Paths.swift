import Glibc

extension FileSystem {
    /// Returns the metadata of a file, by `stat(2)`.
    package func status(of path: String) throws(SystemError) -> FileStatus {
        var status = stat()
        _ = try perform(.stat, path: path) { stat(path, &status) }
        return FileStatus(status)
    }

    /// Returns the metadata of a file or of a symbolic link itself, by `lstat(2)`.
    package func linkStatus(of path: String) throws(SystemError) -> FileStatus {
        var status = stat()
        _ = try perform(.lstat, path: path) { lstat(path, &status) }
        return FileStatus(status)
    }

    /// Renames a file and atomically replaces any file at `target`, by `rename(2)`.
    package func rename(_ source: String, to target: String) throws(SystemError) {
        _ = try perform(.rename, path: target) {
            source.withCString { source in target.withCString { Glibc.rename(source, $0) } }
        }
    }

    /// Adds a second name to a file, by `link(2)`; fails with `EEXIST` if there is a file of that name.
    package func link(_ path: String, to target: String) throws(SystemError) {
        _ = try perform(.link, path: target) {
            path.withCString { path in target.withCString { Glibc.link(path, $0) } }
        }
    }

    /// Returns the path in a symbolic link, by `readlink(2)`.
    package func linkTarget(of path: String) throws(SystemError) -> String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = try perform(.readlink, path: path) { readlink(path, &bytes, bytes.count - 1) }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes a file, by `unlink(2)`.
    package func unlink(_ path: String) throws(SystemError) {
        _ = try perform(.unlink, path: path) { path.withCString { Glibc.unlink($0) } }
    }

    /// Checks that the real user has the permissions in `mode`, by `access(2)`.
    package func checkAccess(to path: String, mode: Int32) throws(SystemError) {
        _ = try perform(.access, path: path) { access(path, mode) }
    }

    /// Creates a directory, by `mkdir(2)`.
    package func makeDirectory(_ path: String, mode: UInt32 = 0o700) throws(SystemError) {
        _ = try perform(.mkdir, path: path) { mkdir(path, mode) }
    }

    /// Removes an empty directory, by `rmdir(2)`.
    package func removeDirectory(_ path: String) throws(SystemError) {
        _ = try perform(.rmdir, path: path) { rmdir(path) }
    }

    /// Sets the modification time of a file, by `utimensat(2)`.
    package func setModificationTime(of path: String, to moment: Timestamp) throws(SystemError) {
        let times = [Glibc.timespec(tv_sec: 0, tv_nsec: 0x3fff_fffe /* UTIME_OMIT */), moment.timespec]
        _ = try perform(.utimensat, path: path) { utimensat(AT_FDCWD, path, times, 0) }
    }

    /// Sets the modification time of an open file, by `futimens(3)`.
    func setModificationTime(of file: borrowing FileDescriptor, to moment: Timestamp) throws(SystemError) {
        let times = [Glibc.timespec(tv_sec: 0, tv_nsec: 0x3fff_fffe /* UTIME_OMIT */), moment.timespec]
        let number = file.rawValue
        _ = try perform(.utimensat) { futimens(number, times) }
    }

    /// The space that is available to this user on a file system.
    package struct FreeSpace: Sendable, Hashable {
        /// The number of available bytes.
        package let availableBytes: Int
        /// The size of the file system in bytes.
        package let totalBytes: Int
        /// The number of available inodes.
        package let availableInodes: Int
        package let countsInodes: Bool
        /// The size of a block in bytes.
        package let blockSize: Int
    }

    /// Returns the available space on the file system of `path`, by `statvfs(3)`.
    package func freeSpace(at path: String) throws(SystemError) -> FreeSpace {
        var info = statvfs()
        _ = try perform(.statvfs, path: path) { statvfs(path, &info) }
        let unit = Int(info.f_frsize)
        return FreeSpace(
            availableBytes: Int(info.f_bavail) * unit,
            totalBytes: Int(info.f_blocks) * unit,
            availableInodes: Int(info.f_favail),
            countsInodes: info.f_files > 0,
            blockSize: unit
        )
    }
}

/// Paths are bytes: a slash before a combining mark ends a directory, while a `Character` has both of them.
extension StringProtocol where UTF8View: BidirectionalCollection {
    /// The index of the last slash; `nil` without one.
    package var lastSlash: Index? { utf8.lastIndex(of: UInt8(ascii: "/")) }

    /// The text before the last slash, empty for a file of the root; `nil` without a slash.
    package var parentPath: String? { lastSlash.map { String(self[..<$0]) } }

    /// The text after the last slash.
    package var fileName: SubSequence { lastSlash.map { self[utf8.index(after: $0)...] } ?? self[...] }

    /// The parts of a path or a URL between its slashes, empty ones included.
    package var pathParts: [SubSequence] {
        utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            self[$0.startIndex..<$0.endIndex]
        }
    }
}
