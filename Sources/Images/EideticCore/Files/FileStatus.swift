import Glibc

/// The metadata of a file.
package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable, Hashable { case regular, directory, symbolicLink, characterDevice, other }

    package let kind: Kind
    /// The size of the contents, in bytes.
    package let size: Int
    /// The space that the file occupies on the device, in bytes.
    package let allocatedSize: Int
    package let modificationTime: Timestamp
    package let accessTime: Timestamp
    package let inode: UInt64
    package let device: UInt64
    package let linkCount: Int
    /// The number of the owner.
    package let owner: UInt32
    /// The number of the group.
    package let group: UInt32
    /// The permissions with the sticky bit and its like: the lower twelve bits of the mode.
    package let permissions: UInt32

    init(_ status: stat) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .regular
        case S_IFDIR: kind = .directory
        case S_IFLNK: kind = .symbolicLink
        case S_IFCHR: kind = .characterDevice
        default: kind = .other
        }
        size = Int(status.st_size)
        allocatedSize = Int(status.st_blocks) * 512
        modificationTime = Timestamp(status.st_mtim)
        accessTime = Timestamp(status.st_atim)
        inode = UInt64(status.st_ino)
        device = UInt64(status.st_dev)
        linkCount = Int(status.st_nlink)
        owner = status.st_uid
        group = status.st_gid
        permissions = status.st_mode & 0o7777
    }
}

extension FileSystem {
    /// Returns whether a path is that of a character device or of a file that is open already, which may be a pipe.
    package func isDeviceOrOpenFile(_ path: String) -> Bool {
        if path.hasPrefix("/dev/fd/") || path.hasPrefix("/proc/self/fd/") { return true }
        if ["/dev/stdin", "/dev/stdout", "/dev/stderr"].contains(path) { return true }
        return (try? status(of: path).kind) == .characterDevice
    }
}
