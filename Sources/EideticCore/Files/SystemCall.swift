/// The system calls that the file layer makes.
package enum SystemCall: String, Sendable, Hashable, CaseIterable {
    case open, close, read, write, pread, pwrite, fstat, stat, lstat, rename, unlink, mkdir, rmdir, link, symlink
    case readdir, fsync, fdatasync, ftruncate, fallocate, flock, futimens, utimensat, mmap, munmap, statvfs
    case access, readlink, fadvise, linkat, chmod, lseek
}

/// A seam for tests: told of every system call before it is made, and able to make it fail instead.
package protocol SystemCallObserver: Sendable {
    /// Gives the error number with which `call` is to fail, or `nil` to let it through.
    func willPerform(_ call: SystemCall, path: String?) -> Int32?
}
