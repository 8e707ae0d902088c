import Glibc

/// An open file; closed when it is given up.
package struct FileDescriptor: ~Copyable {
    /// The system's number for it.
    package let rawValue: Int32

    package init(adopting number: Int32) { self.rawValue = number }

    deinit { _ = Glibc.close(rawValue) }

    /// Gives the number to somebody else, who must close it.
    package consuming func relinquish() -> Int32 {
        let number = rawValue
        discard self
        return number
    }
}

/// What the file system knows of a file.
package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable, Hashable { case regular, directory, symbolicLink, other }

    package let kind: Kind
    /// Bytes in it.
    package let size: Int
    /// Bytes that it takes on the device.
    package let allocatedSize: Int
    package let modificationTime: Timestamp
    package let accessTime: Timestamp
    package let inode: UInt64
    package let device: UInt64
    package let linkCount: Int

    init(_ status: stat) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .regular
        case S_IFDIR: kind = .directory
        case S_IFLNK: kind = .symbolicLink
        default: kind = .other
        }
        size = Int(status.st_size)
        allocatedSize = Int(status.st_blocks) * 512
        modificationTime = Timestamp(status.st_mtim)
        accessTime = Timestamp(status.st_atim)
        inode = UInt64(status.st_ino)
        device = UInt64(status.st_dev)
        linkCount = Int(status.st_nlink)
    }
}

extension Timestamp {
    init(_ time: timespec) { self.init(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)) }

    var timespec: timespec {
        let seconds = self.seconds
        return Glibc.timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds &- seconds &* 1_000_000_000))
    }
}
