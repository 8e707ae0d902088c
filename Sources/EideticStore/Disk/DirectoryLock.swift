import EideticCore
import Glibc

/// Keeps the processes that use a directory apart: one at a time may change it, and each can tell which live.
///
/// Locks are on bytes of one file: byte 0 for changing the directory, byte *n* for being instance *n*. The system
/// gives them up when a process dies, so a kill leaves no lock behind. Who only reads needs none.
final class DirectoryLock {
    /// An open file that may be stored in a class.
    final class OpenFile {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    /// Tries, each up to a millisecond apart, before another process is taken for stopped.
    private static let maximumAttempts = 5_000

    private let layout: DiskLayout
    private let files: FileSystem
    private var file: OpenFile?
    private var inode: UInt64 = 0

    /// The number under which others see this cache; 0 before it has one.
    private(set) var instance: UInt64 = 0

    init(layout: DiskLayout, files: FileSystem) {
        self.layout = layout
        self.files = files
    }

    /// Waits until no other changes the directory; fails with `EBUSY` where one never ends.
    func acquire() throws(SystemError) { try retryLock(try openedFile()) }

    /// Locks the file that others lock, where somebody has removed the one that is locked.
    func reacquireIfRemoved() throws(SystemError) {
        while try !isCurrent() {
            file = nil
            instance = 0
            try acquire()
        }
    }

    func release() {
        guard let file else { return }
        do throws(SystemError) {
            try files.unlockByte(at: 0, of: file.descriptor)
        } catch {
            // Closing gives up all that was locked; the number is taken anew with the next write.
            self.file = nil
            instance = 0
        }
    }

    /// Whether the instance is one that lives; only to be asked while the lock is held.
    func isAlive(_ instance: UInt64) throws(SystemError) -> Bool {
        if instance == self.instance { return true }
        return try files.isByteLocked(at: Int(instance), of: try openedFile().descriptor)
    }

    /// Takes the lowest number that is free; only to be called while the lock is held.
    func claimInstance() throws(SystemError) {
        guard instance == 0 else { return }
        let file = try openedFile()
        for number in 1..<(1 << 20) {
            do throws(SystemError) {
                try files.lockByte(at: number, of: file.descriptor)
                instance = UInt64(number)
                return
            } catch {
                guard error.errorNumber == EAGAIN else { throw error }
            }
        }
        throw SystemError(.flock, errorNumber: EAGAIN, path: layout.lockPath)
    }

    private func openedFile() throws(SystemError) -> OpenFile {
        if let file { return file }
        let newFile = try openLockFile()
        inode = try files.status(of: newFile.descriptor).inode
        file = newFile
        return newFile
    }

    /// Opens the lock file, and makes the directory again where somebody has removed it.
    private func openLockFile() throws(SystemError) -> OpenFile {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW
        do throws(SystemError) {
            return OpenFile(try files.open(layout.lockPath, flags: flags))
        } catch {
            guard error.errorNumber == ENOENT else { throw error }
            try files.makeDirectories(layout.directory)
            return OpenFile(try files.open(layout.lockPath, flags: flags))
        }
    }

    /// Whether the lock file still stands where others look for it: somebody may have removed the directory.
    private func isCurrent() throws(SystemError) -> Bool {
        do throws(SystemError) {
            return try files.status(of: layout.lockPath).inode == inode
        } catch {
            guard error.errorNumber == ENOENT else { throw error }
            return false
        }
    }

    private func retryLock(_ file: OpenFile) throws(SystemError) {
        for attempt in 0..<Self.maximumAttempts {
            do throws(SystemError) {
                return try files.lockByte(at: 0, of: file.descriptor)
            } catch {
                guard error.errorNumber == EAGAIN else { throw error }
            }
            if attempt < 4 { sched_yield() } else { usleep(UInt32(min(1_000, 20 * attempt))) }
        }
        throw SystemError(.flock, errorNumber: EBUSY, path: layout.lockPath)
    }
}
