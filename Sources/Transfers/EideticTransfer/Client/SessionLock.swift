import EideticCore
import Glibc

/// The right of one process to use a session, which it has until it ends.
final class SessionLock: Sendable {
    private let number: Int32

    /// Takes the lock of a session; blocks on file access, and not on the lock.
    ///
    /// - Throws: `inUse` if another process has the session, or this one has it in another object.
    init(_ identifier: String, application: String, location: ServiceLocation) throws(EideticError) {
        let files = FileSystem()
        do throws(SystemError) {
            // Beside the directory of transfers, which processes with different sockets may share.
            let place = location.directory ?? location.socketPath ?? "/tmp/transfers"
            let directory = "\(place.parentPath ?? "")/sessions/\(application)"
            try files.makeDirectories(directory)
            let file = try files.open("\(directory)/\(identifier)", flags: O_RDWR | O_CREAT | O_NOFOLLOW)
            try files.lockByte(at: 0, of: file)
            number = file.relinquish()
        } catch {
            guard error.call == .flock, error.errorNumber == EAGAIN || error.errorNumber == EACCES else {
                throw EideticError(error)
            }
            throw EideticError(
                .inUse,
                message: "another process of \(application) has opened the session \(identifier); end it, or use "
                    + "another identifier",
                systemErrorNumber: error.errorNumber
            )
        }
    }

    deinit { close(number) }
}
