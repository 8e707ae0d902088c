import CLinux
import Glibc

extension FileSystem {
    /// Opens a file with `open(2)`, always with `O_CLOEXEC`.
    package func open(_ path: String, flags: Int32, mode: UInt32 = 0o600) throws(SystemError) -> FileDescriptor {
        FileDescriptor(
            adopting: try perform(.open, path: path) { path.withCString { Glibc.open($0, flags | O_CLOEXEC, mode) } }
        )
    }

    /// Reads once with `read(2)`; returns the number of bytes, fewer than requested or 0 at the end of the file.
    package func read(
        _ file: borrowing FileDescriptor,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        let number = file.rawValue
        return try perform(.read) { Glibc.read(number, buffer.baseAddress, buffer.count) }
    }

    /// Reads once with `read(2)` into an array whose size does not change.
    func read(_ file: borrowing FileDescriptor, into chunk: inout [UInt8]) throws(SystemError) -> Int {
        let number = file.rawValue
        return try perform(.read) { chunk.withUnsafeMutableBytes { Glibc.read(number, $0.baseAddress, $0.count) } }
    }

    /// Reads once with `pread(2)`; returns the number of bytes, fewer than requested or 0 at the end of the file.
    package func read(
        _ file: borrowing FileDescriptor,
        at offset: Int,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        let number = file.rawValue
        return try perform(.pread) { Glibc.pread(number, buffer.baseAddress, buffer.count, offset) }
    }

    /// Writes all of `bytes`, with as many calls of `write(2)` as necessary.
    package func write(
        _ bytes: UnsafeRawBufferPointer,
        to file: borrowing FileDescriptor
    ) throws(SystemError) {
        let number = file.rawValue
        var remainder = bytes
        while !remainder.isEmpty {
            let written = try perform(.write) { Glibc.write(number, remainder.baseAddress, remainder.count) }
            remainder = UnsafeRawBufferPointer(rebasing: remainder.dropFirst(written))
        }
    }

    /// Writes both buffers with `writev(2)`, and the remainder with `write(2)`; the observer receives `write`.
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
        let writtenCount = max(0, written - first.count)
        try write(UnsafeRawBufferPointer(rebasing: second[writtenCount...]), to: file)
    }

    /// Writes all of `bytes` at `offset`, with as many calls of `pwrite(2)` as necessary.
    package func write(
        _ bytes: UnsafeRawBufferPointer,
        to file: borrowing FileDescriptor,
        at offset: Int
    ) throws(SystemError) {
        let number = file.rawValue
        var writtenCount = 0
        while writtenCount < bytes.count {
            writtenCount += try perform(.pwrite) {
                Glibc.pwrite(
                    number,
                    bytes.baseAddress.map { $0 + writtenCount },
                    bytes.count - writtenCount,
                    offset + writtenCount
                )
            }
        }
    }

    /// Writes all bytes of an array.
    package func write(_ bytes: [UInt8], to file: borrowing FileDescriptor) throws(SystemError) {
        try bytes.withUnsafeBufferPointer { buffer throws(SystemError) in
            try write(UnsafeRawBufferPointer(buffer), to: file)
        }
    }

    /// Writes all bytes of an array at an offset.
    package func write(_ bytes: [UInt8], to file: borrowing FileDescriptor, at offset: Int) throws(SystemError) {
        try bytes.withUnsafeBufferPointer { buffer throws(SystemError) in
            try write(UnsafeRawBufferPointer(buffer), to: file, at: offset)
        }
    }

    /// Reads `count` bytes from an offset, or fewer at the end of the file.
    package func bytes(
        of file: borrowing FileDescriptor,
        at offset: Int = 0,
        count: Int
    ) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(SystemError) {
                while filled < count {
                    let remaining = UnsafeMutableRawBufferPointer(buffer)[filled...]
                    let place = UnsafeMutableRawBufferPointer(rebasing: remaining)
                    let read = try self.read(file, at: offset + filled, into: place)
                    if read == 0 { break }
                    filled += read
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Returns the metadata of an open file, by `fstat(2)`.
    package func status(of file: borrowing FileDescriptor) throws(SystemError) -> FileStatus {
        let number = file.rawValue
        var status = stat()
        _ = try perform(.fstat) { fstat(number, &status) }
        return FileStatus(status)
    }

    /// Returns the size of a regular file in bytes, by `lseek(2)`, which takes a tenth of the time of `fstat(2)`.
    ///
    /// Fails with `ESPIPE` for a pipe or a socket. The result is meaningless for a directory.
    package func size(of file: borrowing FileDescriptor) throws(SystemError) -> Int {
        let number = file.rawValue
        return try perform(.lseek) { lseek(number, 0, SEEK_END) }
    }

    /// Writes the file's data to the device, by `fdatasync(2)`.
    package func synchronizeData(_ file: borrowing FileDescriptor) throws(SystemError) {
        let number = file.rawValue
        _ = try perform(.fdatasync) { fdatasync(number) }
    }

    /// Writes the file's data and metadata to the device, by `fsync(2)`.
    package func synchronize(_ file: borrowing FileDescriptor) throws(SystemError) {
        let number = file.rawValue
        _ = try perform(.fsync) { fsync(number) }
    }

    /// Sets the size of a file, by `ftruncate(2)`.
    package func truncate(_ file: borrowing FileDescriptor, to size: Int) throws(SystemError) {
        let number = file.rawValue
        _ = try perform(.ftruncate) { ftruncate(number, size) }
    }

    /// Reserves space on the device without changing the file's size, by `fallocate(2)`.
    package func allocate(_ file: borrowing FileDescriptor, from offset: Int, count: Int) throws(SystemError) {
        let number = file.rawValue
        _ = try perform(.fallocate) { fallocate(number, FALLOC_FL_KEEP_SIZE, offset, count) }
    }

    /// Locks one byte of a file for this open file description; fails with `EAGAIN` if another one holds the lock.
    ///
    /// The system releases the lock when the descriptor is closed, which includes the end of the process.
    package func lockByte(at offset: Int, of file: borrowing FileDescriptor) throws(SystemError) {
        try setLock(F_WRLCK, at: offset, of: file)
    }

    /// Locks one byte of a file for this open file description, as any number of others may do at the same time.
    package func lockByteShared(at offset: Int, of file: borrowing FileDescriptor) throws(SystemError) {
        try setLock(F_RDLCK, at: offset, of: file)
    }

    /// Locks one byte like `lockByte(at:of:)`, but waits in the kernel while another open file description holds it.
    package func waitForByteLock(at offset: Int, of file: borrowing FileDescriptor) throws(SystemError) {
        try setLock(F_WRLCK, at: offset, of: file, waits: true)
    }

    /// Unlocks a byte that `lockByte(at:of:)` locked.
    package func unlockByte(at offset: Int, of file: borrowing FileDescriptor) throws(SystemError) {
        try setLock(F_UNLCK, at: offset, of: file)
    }

    private func setLock(
        _ type: Int32,
        at offset: Int,
        of file: borrowing FileDescriptor,
        waits: Bool = false
    ) throws(SystemError) {
        let number = file.rawValue
        _ = try perform(.flock) { eidetic_lock_byte(number, offset, type, waits ? 1 : 0) }
    }

    /// Returns `true` if another open file description holds the lock on a byte.
    package func isByteLocked(at offset: Int, of file: borrowing FileDescriptor) throws(SystemError) -> Bool {
        let number = file.rawValue
        return try perform(.flock) { eidetic_is_byte_locked(number, offset) } == 1
    }

    /// Locks or unlocks a file, by `flock(2)`; with `LOCK_NB` it fails with `EWOULDBLOCK` if another process holds the
    /// lock.
    package func lock(_ file: borrowing FileDescriptor, operation: Int32) throws(SystemError) {
        let number = file.rawValue
        _ = try perform(.flock) { flock(number, operation) }
    }
}
