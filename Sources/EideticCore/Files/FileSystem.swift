import CLinux
import Glibc
import Synchronization

/// The file layer: one function for each system call, so that a test can make any of them fail or count them.
///
/// Calls interrupted by a signal (`EINTR`) are made again. Everything here blocks: never call it on the main actor
/// or the cooperative pool.
package struct FileSystem: Sendable {
    private let observer: (any SystemCallObserver)?

    /// Creates a file layer.
    ///
    /// - Parameter observer: Told of every call; `nil`, the default, costs one comparison a call.
    package init(observer: (any SystemCallObserver)? = nil) { self.observer = observer }

    /// Makes one call: asks the observer, tries again after `EINTR`, turns -1 into an error.
    @inline(__always)
    func perform<Number: SignedInteger>(
        _ call: SystemCall,
        path: String? = nil,
        body: () -> Number
    ) throws(SystemError) -> Number {
        while true {
            if let observer, let number = observer.willPerform(call, path: path) {
                if number == EINTR { continue }
                throw SystemError(call, errorNumber: number, path: path)
            }
            let result = body()
            if result >= 0 { return result }
            if errno != EINTR { throw SystemError(call, errorNumber: errno, path: path) }
        }
    }
}

// MARK: Open files
extension FileSystem {
    /// `open(2)`, always with `O_CLOEXEC`.
    package func open(_ path: String, flags: Int32, mode: UInt32 = 0o600) throws(SystemError) -> FileDescriptor {
        FileDescriptor(
            adopting: try perform(.open, path: path) { path.withCString { Glibc.open($0, flags | O_CLOEXEC, mode) } }
        )
    }

    /// `read(2)`, once: may give fewer bytes than asked for; 0 at the end.
    package func read(
        _ file: borrowing FileDescriptor,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        let number = file.rawValue
        return try perform(.read) { Glibc.read(number, buffer.baseAddress, buffer.count) }
    }

    /// `read(2)`, once, into an array whose size does not change.
    private func read(_ file: borrowing FileDescriptor, into chunk: inout [UInt8]) throws(SystemError) -> Int {
        let number = file.rawValue
        return try perform(.read) { chunk.withUnsafeMutableBytes { Glibc.read(number, $0.baseAddress, $0.count) } }
    }

    /// `pread(2)`, once: may give fewer bytes than asked for; 0 at the end.
    package func read(
        _ file: borrowing FileDescriptor,
        at offset: Int,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        let number = file.rawValue
        return try perform(.pread) { Glibc.pread(number, buffer.baseAddress, buffer.count, offset) }
    }

    /// `write(2)`, as often as needed for all of `bytes`.
    package func write(
        _ bytes: UnsafeRawBufferPointer,
        to file: borrowing FileDescriptor
    ) throws(SystemError) {
        let number = file.rawValue
        var rest = bytes
        while !rest.isEmpty {
            let written = try perform(.write) { Glibc.write(number, rest.baseAddress, rest.count) }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
        }
    }

    /// `writev(2)`, as often as needed for all of both parts; told to the observer as `write`.
    package func write(
        _ first: UnsafeRawBufferPointer,
        followedBy second: UnsafeRawBufferPointer,
        to file: borrowing FileDescriptor
    ) throws(SystemError) {
        let number = file.rawValue
        let parts = [first, second].map {
            iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
        }
        let written = try perform(.write) { writev(number, parts, 2) }
        if written < first.count { try write(UnsafeRawBufferPointer(rebasing: first[written...]), to: file) }
        let done = max(0, written - first.count)
        try write(UnsafeRawBufferPointer(rebasing: second[done...]), to: file)
    }

    /// `pwrite(2)`, as often as needed for all of `bytes`.
    package func write(
        _ bytes: UnsafeRawBufferPointer,
        to file: borrowing FileDescriptor,
        at offset: Int
    ) throws(SystemError) {
        let number = file.rawValue
        var done = 0
        while done < bytes.count {
            done += try perform(.pwrite) {
                Glibc.pwrite(number, bytes.baseAddress.map { $0 + done }, bytes.count - done, offset + done)
            }
        }
    }

    /// `fstat(2)`.
    package func status(of file: borrowing FileDescriptor) throws(SystemError) -> FileStatus {
        let number = file.rawValue
        var status = stat()
        _ = try perform(.fstat) { fstat(number, &status) }
        return FileStatus(status)
    }

    /// The bytes of a regular file, by `lseek(2)`, which takes a tenth of the time of `fstat`.
    ///
    /// Fails with `ESPIPE` for a pipe or a socket; says nothing of use for a directory.
    package func size(of file: borrowing FileDescriptor) throws(SystemError) -> Int {
        let number = file.rawValue
        return try perform(.lseek) { lseek(number, 0, SEEK_END) }
    }

    /// `fdatasync(2)`.
    package func synchronizeData(_ file: borrowing FileDescriptor) throws(SystemError) {
        let number = file.rawValue
        _ = try perform(.fdatasync) { fdatasync(number) }
    }

    /// `fsync(2)`.
    package func synchronize(_ file: borrowing FileDescriptor) throws(SystemError) {
        let number = file.rawValue
        _ = try perform(.fsync) { fsync(number) }
    }

    /// `ftruncate(2)`.
    package func truncate(_ file: borrowing FileDescriptor, to size: Int) throws(SystemError) {
        let number = file.rawValue
        _ = try perform(.ftruncate) { ftruncate(number, size) }
    }

    /// `fallocate(2)`, keeping the size: takes room on the device for what will be written.
    package func allocate(_ file: borrowing FileDescriptor, from offset: Int, count: Int) throws(SystemError) {
        let number = file.rawValue
        _ = try perform(.fallocate) { eidetic_allocate(number, offset, count) }
    }

    /// Takes one byte of a file as a lock of this descriptor, or fails with `EAGAIN` where another holds it.
    ///
    /// The system gives it up when the descriptor is closed, so also when the process dies.
    package func lockByte(at offset: Int, of file: borrowing FileDescriptor) throws(SystemError) {
        let number = file.rawValue
        _ = try perform(.flock) { eidetic_lock_byte(number, offset, F_WRLCK) }
    }

    /// Gives a byte up that `lockByte` took.
    package func unlockByte(at offset: Int, of file: borrowing FileDescriptor) throws(SystemError) {
        let number = file.rawValue
        _ = try perform(.flock) { eidetic_lock_byte(number, offset, F_UNLCK) }
    }

    /// Whether another descriptor holds a byte of a file.
    package func isByteLocked(at offset: Int, of file: borrowing FileDescriptor) throws(SystemError) -> Bool {
        let number = file.rawValue
        return try perform(.flock) { eidetic_is_byte_locked(number, offset) } == 1
    }

    /// `flock(2)`; with `LOCK_NB` fails with `EWOULDBLOCK` where another holds the lock.
    package func lock(_ file: borrowing FileDescriptor, operation: Int32) throws(SystemError) {
        let number = file.rawValue
        _ = try perform(.flock) { flock(number, operation) }
    }
}

// MARK: Names
extension FileSystem {
    /// `stat(2)`.
    package func status(of path: String) throws(SystemError) -> FileStatus {
        var status = stat()
        _ = try perform(.stat, path: path) { stat(path, &status) }
        return FileStatus(status)
    }

    /// `lstat(2)`: of a symbolic link itself.
    package func linkStatus(of path: String) throws(SystemError) -> FileStatus {
        var status = stat()
        _ = try perform(.lstat, path: path) { lstat(path, &status) }
        return FileStatus(status)
    }

    /// `rename(2)`: replaces what stands at `target`, at once and wholly.
    package func rename(_ source: String, to target: String) throws(SystemError) {
        _ = try perform(.rename, path: target) {
            source.withCString { source in target.withCString { Glibc.rename(source, $0) } }
        }
    }

    /// `unlink(2)`.
    package func unlink(_ path: String) throws(SystemError) {
        _ = try perform(.unlink, path: path) { path.withCString { Glibc.unlink($0) } }
    }

    /// `access(2)`: fails where the real user may not do all of `wanted`.
    package func checkAccess(to path: String, mode wanted: Int32) throws(SystemError) {
        _ = try perform(.access, path: path) { access(path, wanted) }
    }

    /// `mkdir(2)`.
    package func makeDirectory(_ path: String, mode: UInt32 = 0o700) throws(SystemError) {
        _ = try perform(.mkdir, path: path) { mkdir(path, mode) }
    }

    /// `rmdir(2)`.
    package func removeDirectory(_ path: String) throws(SystemError) {
        _ = try perform(.rmdir, path: path) { rmdir(path) }
    }

    /// `utimensat(2)`: sets the time of modification.
    package func setModificationTime(of path: String, to moment: Timestamp) throws(SystemError) {
        let times = [Glibc.timespec(tv_sec: 0, tv_nsec: 0x3fff_fffe /* UTIME_OMIT */), moment.timespec]
        _ = try perform(.utimensat, path: path) { utimensat(AT_FDCWD, path, times, 0) }
    }

    /// What this user may still take on a file system.
    package struct FreeSpace: Sendable, Hashable {
        /// Bytes that are free.
        package let availableBytes: Int
        /// Bytes in all.
        package let totalBytes: Int
        /// Inodes that are free.
        package let availableInodes: Int
        /// Whether the file system counts inodes at all.
        package let countsInodes: Bool
        /// The unit in which it gives room, in bytes.
        package let blockSize: Int
    }

    /// `statvfs(3)`, of the file system of `path`.
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

// MARK: Convenience
extension FileSystem {
    /// Makes a directory and those above it, as `mkdir -p` does.
    package func makeDirectories(_ path: String, mode: UInt32 = 0o700) throws(SystemError) {
        do throws(SystemError) {
            try makeDirectory(path, mode: mode)
        } catch  where error.errorNumber == ENOENT {
            guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { throw error }
            try makeDirectories(String(path[..<slash]), mode: mode)
            // Another process may have made it in between.
            try makeDirectories(path, mode: mode)
        } catch  where error.errorNumber == EEXIST {
            guard try status(of: path).kind == .directory else {
                throw SystemError(.mkdir, errorNumber: ENOTDIR, path: path)
            }
        }
    }

    /// The names in a directory, without "." and "..", in no order.
    package func entryNames(in path: String) throws(SystemError) -> [String] {
        if let observer, let number = observer.willPerform(.readdir, path: path) {
            throw SystemError(.readdir, errorNumber: number, path: path)
        }
        guard let directory = opendir(path) else { throw SystemError(.readdir, errorNumber: errno, path: path) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = Glibc.readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Reads a whole file; fails with `EFBIG` where it is larger than `limit`.
    package func contents(of path: String, limit: Int = .max) throws(SystemError) -> [UInt8] {
        do throws(SystemError) {
            return try contents(of: try open(path, flags: O_RDONLY), limit: limit)
        } catch {
            throw SystemError(error.call, errorNumber: error.errorNumber, path: path)
        }
    }

    /// Reads an open file from where it stands to its end; fails with `EFBIG` where that is more than `limit`.
    package func contents(of file: borrowing FileDescriptor, limit: Int = .max) throws(SystemError) -> [UInt8] {
        let size = try status(of: file).size
        guard size <= limit else { throw SystemError(.read, errorNumber: EFBIG) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: max(4_096, min(size + 1, 1 << 20)))
        bytes.reserveCapacity(size)
        while true {
            let count = try read(file, into: &chunk)
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk[..<count])
            guard bytes.count <= limit else { throw SystemError(.read, errorNumber: EFBIG) }
        }
    }

    /// A name beside `path` that nobody else uses, for a file until it is complete.
    package static func temporaryPath(for path: String) -> String {
        var name = path
        name.reserveCapacity(path.utf8.count + 20)
        name.append(".")
        name.append(String(temporaryNameCounter.wrappingAdd(1, ordering: .relaxed).newValue, radix: 36))
        name.append(".tmp")
        return name
    }

    /// Names are counted from a random number on: another process may have the same number elsewhere.
    private static let temporaryNameCounter = Atomic<UInt64>(.random(in: 0...UInt64.max))

    /// Writes a whole file: a temporary one beside it first, then a rename, so that nobody ever sees half of it.
    package func replaceContents(
        of path: String,
        with bytes: UnsafeRawBufferPointer,
        mode: UInt32 = 0o644
    ) throws(SystemError) {
        let temporary = Self.temporaryPath(for: path)
        do throws(SystemError) {
            try write(bytes, to: try open(temporary, flags: O_WRONLY | O_CREAT | O_EXCL, mode: mode))
            try rename(temporary, to: path)
        } catch {
            try? unlink(temporary)
            throw SystemError(error.call, errorNumber: error.errorNumber, path: path)
        }
    }
}
