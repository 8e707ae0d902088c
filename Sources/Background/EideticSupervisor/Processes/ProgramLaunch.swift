import CSupervisor
package import EideticCore
package import EideticSupervision
import Glibc

/// The start of a program as an application: in a control group and a session of its own, with an inherited socket.
package struct ProgramLaunch {
    /// The descriptor of the socket that the program inherits.
    package static let socketDescriptor: Int32 = 3

    package var program: ProgramDescription

    package init(_ program: ProgramDescription) { self.program = program }

    /// The places that the process receives from this one.
    package struct Places {
        package init() {}

        /// The directory of a control group; -1 for that of this process.
        package var group: Int32 = -1
        /// The socket to be inherited; -1 for none.
        package var socket: Int32 = -1
        /// The file for both outputs; -1 for those of this process.
        package var output: Int32 = -1
    }

    /// Starts a process that executes the program when its report permits that, without waiting for it; throws with the
    /// error of `clone3`.
    package func begin(at places: Places) throws(SystemError) -> (process: ProcessHandle, report: StartReport) {
        let arguments = CStringList([program.executable] + program.arguments)
        let environment = CStringList(program.environment)
        var descriptor: Int32 = -1
        var report: Int32 = -1
        let identifier = withCString(program.executable) { path in
            withCString(program.directory) { directory in
                var launch = eidetic_launch(
                    path: path,
                    arguments: arguments.pointers,
                    environment: environment.pointers,
                    directory: directory,
                    group: places.group,
                    socket: places.socket,
                    output: places.output
                )
                return eidetic_launch(&launch, &descriptor, &report)
            }
        }
        guard identifier > 0 else { throw failure(-identifier) }
        return (ProcessHandle(identifier: identifier, adopting: descriptor), StartReport(adopting: report))
    }

    /// The error of a program that cannot be executed.
    package func failure(_ error: Int32) -> SystemError {
        SystemError(.open, errorNumber: error, path: program.executable)
    }

    private func withCString<Result>(_ text: String?, call body: (UnsafePointer<CChar>?) -> Result) -> Result {
        guard let text else { return body(nil) }
        return text.withCString { body($0) }
    }
}
