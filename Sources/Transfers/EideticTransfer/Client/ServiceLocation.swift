import EideticCore
import Glibc

/// The places by which a client finds the transfer process, or starts it.
package struct ServiceLocation: Sendable, Hashable {
    /// The programs that a client starts when nobody listens at the socket.
    package enum Program: Sendable, Hashable {
        /// `eidetic-transferd` beside this program, in `../libexec`, in `PATH`, or in the system's `libexec`.
        case installed
        case path(String)
        /// No program is started: the transfer process is one that runs.
        case none
    }

    /// The path of the socket; `nil` if there is no place for one.
    package var socketPath: String?
    /// The directory of the journal and the files.
    package var directory: String?
    package var program = Program.installed
    /// The further arguments of the program.
    package var arguments: [String] = []

    package init(socketPath: String?, directory: String?) {
        self.socketPath = socketPath
        self.directory = directory
    }

    /// The places of this user.
    package static var standard: ServiceLocation {
        ServiceLocation(socketPath: TransferLocations.socketPath, directory: TransferLocations.directory)
    }

    /// The path of the program, which is searched now; `nil` if it is not installed.
    package var programPath: String? {
        switch program {
        case .none: nil
        case .path(let path): access(path, X_OK) == 0 ? path : nil
        case .installed: Self.installedPaths.first { access($0, X_OK) == 0 }
        }
    }

    private static let programName = "eidetic-transferd"

    private static var installedPaths: [String] {
        let search = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        let directories = search.split(separator: ":").filter { $0.hasPrefix("/") }.map(String.init)
        let own = ownDirectory.map { [$0, "\($0)/../libexec"] } ?? []
        return (own + directories + ["/usr/local/libexec", "/usr/libexec"]).map { "\($0)/\(programName)" }
    }

    private static var ownDirectory: String? { (try? FileSystem().linkTarget(of: "/proc/self/exe"))?.parentPath }

    /// The name of this process's application: that of its program, without characters that a name cannot have.
    package static var applicationName: String {
        let path = (try? FileSystem().linkTarget(of: "/proc/self/exe")) ?? "application"
        return TransferLocations.applicationName(of: path.fileName)
    }
}
