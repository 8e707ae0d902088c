import EideticCore
import Glibc

/// The failure of a program to become a decoding process.
struct HelperStartFailure: Error {
    /// The meaning of a failure for the next start.
    enum Kind {
        /// The program cannot decode on this machine.
        case permanent
        /// The process has died while it started, or the system had no room for it: the next one may start.
        case momentary
        /// The process did not become ready in time.
        case silence
    }

    let kind: Kind
    let message: String

    init(_ kind: Kind, of program: HelperProgram, reason: String) {
        self.kind = kind
        message = "\(program.path) cannot decode images: \(reason)"
    }

    /// The failure of a system call that starts a process.
    init(of program: HelperProgram, error: SystemError) {
        let isPermanent = Self.permanentErrors.contains(error.errorNumber)
        self.init(isPermanent ? .permanent : .momentary, of: program, reason: "\(error)")
    }

    /// No such program, no right to execute it, no program, or no such system call.
    private static let permanentErrors: Set<Int32> = [
        ENOENT, ENOTDIR, ELOOP, EACCES, EPERM, ENOEXEC, ELIBBAD, EINVAL, ENOSYS,
    ]
}
