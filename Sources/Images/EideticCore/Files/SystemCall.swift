/// A system call of the file layer, or of the sockets between processes of one machine.
package enum SystemCall: String, Sendable, Hashable, CaseIterable {
    case open, close, read, write, pread, pwrite, fstat, stat, lstat, rename, unlink, mkdir, rmdir, link, symlink
    case readdir, fsync, fdatasync, ftruncate, fallocate, flock, futimens, utimensat, mmap, munmap, statvfs
    case access, readlink, fadvise, linkat, chmod, lseek
    case socket, bind, listen, connect, accept, send, receive, spawn
    case pidfdOpen = "pidfd_open"
}

/// An observer of system calls, for tests: it is called before each call, and can make the call fail.
package protocol SystemCallObserver: Sendable {
    /// Returns the error number with which the call is to fail, or `nil` to let it proceed.
    func willPerform(_ call: SystemCall, path: String?) -> Int32?
}
