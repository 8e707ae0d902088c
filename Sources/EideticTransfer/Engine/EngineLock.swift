import EideticCore
import Glibc

/// The file by which a directory of transfers belongs to one process, whose number is in it.
enum EngineLock {
    /// Takes the directory.
    ///
    /// - Throws: `refused` if another process has it; an error of the file system.
    static func take(of directory: String, with files: FileSystem) throws(EideticError) -> FileDescriptor {
        do throws(SystemError) {
            try files.makeDirectories(directory)
            if let violation = try DirectoryTrust(files: files).violation(in: directory) {
                throw SystemError(.lstat, errorNumber: EPERM, path: directory, violation: violation)
            }
            let file = try files.open(path(in: directory), flags: O_RDWR | O_CREAT, mode: 0o600)
            try files.lock(file, operation: LOCK_EX | LOCK_NB)
            // Without the number another process can wait for this one, but not end it.
            try? FileSystem().truncate(file, to: 0)
            try? FileSystem().write(Array("\(getpid())".utf8), to: file, at: 0)
            return file
        } catch {
            guard error.errorNumber == EWOULDBLOCK else { throw EideticError(error) }
            throw EideticError(.refused, message: "another process performs the transfers of \(directory)")
        }
    }

    /// Ends the process that has the directory, as by SIGTERM, and waits until it has released it.
    static func endOwner(of directory: String) throws(EideticError) {
        let files = FileSystem()
        do throws(SystemError) {
            let file = try files.open(path(in: directory), flags: O_RDWR | O_CREAT, mode: 0o600)
            do throws(SystemError) {
                return try files.lock(file, operation: LOCK_EX | LOCK_NB)
            } catch  where error.errorNumber == EWOULDBLOCK {}
            let text = String(decoding: try files.contents(of: path(in: directory), limit: 32), as: UTF8.self)
            if let owner = pid_t(text), owner > 0, owner != getpid() { kill(owner, SIGTERM) }
            try files.lock(file, operation: LOCK_EX)
        } catch {
            throw EideticError(error)
        }
    }

    private static func path(in directory: String) -> String { "\(directory)/lock" }
}
