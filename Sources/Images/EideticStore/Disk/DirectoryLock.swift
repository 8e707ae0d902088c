import EideticCore
import Glibc

/// A lock that serializes changes to a directory between processes, and identifies the live ones.
///
/// The locks are on bytes of one file: byte 0 for changes to the directory, byte *n* for cache instance *n*, and a
/// shared one on ``DirectoryLockByte/mark``, which tells a supervisor whose lock it is. The kernel releases them when a
/// process dies, so a kill leaves no lock behind. Readers take no lock.
final class DirectoryLock {
    /// The number of attempts before a thread waits: mostly the lock is held for less than its start takes.
    private static let immediateAttempts = 4

    private let layout: DiskLayout
    private let files: FileSystem
    /// The time after which a wait for the lock fails with `EBUSY`.
    private let timeLimit: Duration
    private var file: OpenFile?
    /// The wait for the lock of `file` that goes on after its time.
    private var waiter: LockWaiter?
    private var inode: UInt64 = 0

    /// The number that identifies this cache to other processes; 0 until one is claimed.
    private(set) var instance: UInt64 = 0

    init(layout: DiskLayout, files: FileSystem, timeLimit: Duration) {
        self.layout = layout
        self.files = files
        self.timeLimit = timeLimit
    }

    /// Waits for exclusive access to the directory; fails with `EBUSY` if another process never releases it.
    func acquire() throws(SystemError) { try lock(try openedFile()) }

    /// Acquires the lock on a new file if the locked one was removed from the directory.
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
            try files.unlockByte(at: DirectoryLockByte.changes, of: file.descriptor)
        } catch {
            // Closing the file releases all of its locks; the next write claims a new instance number.
            self.file = nil
            instance = 0
        }
    }

    /// Returns `true` if a process with this instance number is running.
    ///
    /// The caller must hold the lock.
    func isAlive(_ instance: UInt64) throws(SystemError) -> Bool {
        if instance == self.instance { return true }
        return try files.isByteLocked(at: Int(instance), of: try openedFile().descriptor)
    }

    /// Claims the lowest free instance number.
    ///
    /// The caller must hold the lock.
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
        try files.lockByteShared(at: DirectoryLockByte.mark, of: newFile.descriptor)
        inode = try files.status(of: newFile.descriptor).inode
        file = newFile
        return newFile
    }

    /// Opens the lock file, and creates the directory again if it was removed.
    ///
    /// Another user may have made a directory in place of a removed one.
    private func openLockFile() throws(SystemError) -> OpenFile {
        try DiskDirectory(layout: layout, files: files).checkTrust()
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW
        do throws(SystemError) {
            return OpenFile(try files.open(layout.lockPath, flags: flags))
        } catch {
            guard error.errorNumber == ENOENT else { throw error }
            try DiskDirectory(layout: layout, files: files).recreate()
            return OpenFile(try files.open(layout.lockPath, flags: flags))
        }
    }

    /// A Boolean value indicating whether the lock file is still the one in the directory.
    private func isCurrent() throws(SystemError) -> Bool {
        do throws(SystemError) {
            return try files.status(of: layout.lockPath).inode == inode
        } catch {
            guard error.errorNumber == ENOENT else { throw error }
            return false
        }
    }

    /// Locks byte 0, or lets a thread wait for it in the kernel.
    ///
    /// A wait that goes on must be used: it would undo a lock of the same file that was acquired beside it.
    private func lock(_ file: OpenFile) throws(SystemError) {
        while true {
            if waiter == nil, try lockAtOnce(file) { return }
            let waiter = self.waiter ?? LockWaiter(file: file, files: files)
            self.waiter = waiter
            switch waiter.wait(atMost: timeLimit) {
            case nil: throw SystemError(.flock, errorNumber: EBUSY, path: layout.lockPath)
            case .locked: return self.waiter = nil
            case .released: self.waiter = nil
            case .failed(let error):
                self.waiter = nil
                throw error
            }
        }
    }

    private func lockAtOnce(_ file: OpenFile) throws(SystemError) -> Bool {
        for _ in 0..<Self.immediateAttempts {
            do throws(SystemError) {
                try files.lockByte(at: DirectoryLockByte.changes, of: file.descriptor)
                return true
            } catch {
                guard error.errorNumber == EAGAIN else { throw error }
                sched_yield()
            }
        }
        return false
    }
}
