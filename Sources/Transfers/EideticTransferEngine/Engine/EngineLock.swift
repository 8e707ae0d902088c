import CLinux
package import EideticCore
import EideticTransfer
import Glibc

/// The file by which a directory of transfers belongs to one process.
///
/// The open file is locked. A transfer process, which a successor may end, also has a lock of the process, whose owner
/// the kernel names. A number in the file could be that of an earlier owner, and by now that of a stranger.
package enum EngineLock {
    /// Takes the directory.
    ///
    /// - Parameters:
    ///   - directory: The directory of the transfers.
    ///   - isReplaceable: Whether ``endOwner(of:killDelay:limit:)`` may end this process.
    ///   - files: The file layer.
    /// - Returns: The open file, with which the directory is given back.
    /// - Throws: `refused` if another process has it; an error of the file system.
    package static func take(
        of directory: String,
        isReplaceable: Bool = false,
        with files: FileSystem = FileSystem()
    ) throws(EideticError) -> FileDescriptor {
        do throws(SystemError) {
            try files.makeDirectories(directory)
            if let violation = try DirectoryTrust(files: files).violation(in: directory) {
                throw SystemError(.lstat, errorNumber: EPERM, path: directory, violation: violation)
            }
            let file = try files.open(path(in: directory), flags: O_RDWR | O_CREAT, mode: 0o600)
            try files.lock(file, operation: LOCK_EX | LOCK_NB)
            // Without it a successor waits for this process, but cannot end it.
            if isReplaceable { lockf(file.rawValue, F_TLOCK, 0) }
            return file
        } catch {
            guard error.errorNumber == EWOULDBLOCK else { throw EideticError(error) }
            throw EideticError(.refused, message: "another process performs the transfers of \(directory)")
        }
    }

    /// Ends the transfer process that has the directory, and waits until it has released it.
    ///
    /// The process receives SIGTERM, and SIGCONT as it may be stopped; SIGKILL ends one that is frozen or hangs.
    ///
    /// - Parameters:
    ///   - directory: The directory of the transfers.
    ///   - killDelay: The time after which the process is killed; 5 s by default.
    ///   - limit: The time after which the directory is given up; 10 s by default.
    /// - Throws: `refused` if a process still has the directory, such as an application; an error of the file system.
    package static func endOwner(
        of directory: String,
        killDelay: Duration = .seconds(5),
        limit: Duration = .seconds(10)
    ) throws(EideticError) {
        let files = FileSystem()
        let time = SystemTime()
        let start = time.uptime
        var owner: Int32 = 0
        var killTime: Duration = .zero
        do throws(SystemError) {
            let file = try files.open(path(in: directory), flags: O_RDWR | O_CREAT, mode: 0o600)
            while true {
                do throws(SystemError) {
                    return try files.lock(file, operation: LOCK_EX | LOCK_NB)
                } catch  where error.errorNumber == EWOULDBLOCK {}
                guard time.uptime - start < limit else { throw SystemError(.flock, errorNumber: EWOULDBLOCK) }
                let found = eidetic_find_lock_owner(file.rawValue)
                if found != owner {
                    owner = found
                    killTime = time.uptime + killDelay
                    signal(owner, with: [SIGTERM, SIGCONT], file: file)
                } else if time.uptime >= killTime {
                    signal(owner, with: [SIGKILL], file: file)
                }
                usleep(retryPause)
            }
        } catch {
            guard error.errorNumber == EWOULDBLOCK else { throw EideticError(error) }
            let message = "another process performs the transfers of \(directory), and does not end"
            throw EideticError(.refused, message: message)
        }
    }

    /// The pause between two attempts to take the directory, in microseconds.
    private static let retryPause: UInt32 = 10_000

    /// Sends signals to the process that has the lock, if its number is still the given one.
    private static func signal(_ owner: Int32, with signals: [Int32], file: borrowing FileDescriptor) {
        guard owner > 0, owner != getpid() else { return }
        let number = eidetic_open_process(owner)
        guard number >= 0 else { return }
        let process = FileDescriptor(adopting: number)
        // The descriptor is that of the owner, as the owner still has the number, or else that of an ended process.
        guard eidetic_find_lock_owner(file.rawValue) == owner else { return }
        for signal in signals { eidetic_signal_process(process.rawValue, signal) }
    }

    private static func path(in directory: String) -> String { ServiceOwner.lockPath(in: directory) }
}
