import CSupervisor
import EideticCore
import Glibc

/// The report of a process that was born to execute a program: it has started it, or cannot.
///
/// A program on a file system that hangs has no report; its process can be killed like any other.
package final class StartReport {
    private let descriptor: FileDescriptor

    /// The descriptor, which is readable when there is a report.
    package var rawValue: Int32 { descriptor.rawValue }

    init(adopting descriptor: Int32) { self.descriptor = FileDescriptor(adopting: descriptor) }

    package enum Outcome: Sendable, Hashable {
        /// The program runs, or the process was killed before.
        case started
        /// The program cannot be executed, with the error number.
        case failed(Int32)
    }

    /// Lets the process execute the program, once it is recorded; it ends without having done so if this process ends.
    package func permitStart() { eidetic_permit_launch(rawValue) }

    /// Reads the report, once; `nil` if there is none yet.
    package func take() -> Outcome? {
        var error: Int32 = 0
        guard eidetic_read_report(rawValue, &error) == 1 else { return nil }
        return error == 0 ? .started : .failed(error)
    }
}
