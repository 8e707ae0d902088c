import CLinux
package import EideticCore
import Glibc

/// Connects to the transfer process, and starts it if nobody listens at its socket.
///
/// The client listens at the socket and passes it to the process, so that no connection is refused meanwhile. A lock
/// file beside the socket lets one client at a time do so.
struct ServiceStarter: Sendable {
    let location: ServiceLocation
    private let files = FileSystem()

    init(location: ServiceLocation) { self.location = location }

    /// Connects; blocks for the time of a start.
    ///
    /// - Returns: The connection; `nil` if nobody listens, and the program is not installed.
    /// - Throws: `SystemError`; with `EAGAIN`, too many connections wait.
    func connect() throws(SystemError) -> PacketSocket? {
        guard let path = location.socketPath else { return nil }
        if let socket = try connectToListener(at: path) ?? connectToOwner() { return socket }
        guard let program = location.programPath else { return nil }
        try files.makeDirectories(path.parentPath ?? "")
        let lock = try files.open(TransferLocations.lockPath(for: path), flags: O_RDWR | O_CREAT | O_NOFOLLOW)
        try files.lock(lock, operation: LOCK_EX)
        if let socket = try connectToListener(at: path) ?? connectToOwner() { return socket }
        let listener = try PacketSocket.listen(replacing: path)
        try start(program, with: listener)
        return try PacketSocket.connect(to: path)
    }

    /// Connects to the transfer process that has the directory, whose socket is another one; `nil` if there is none.
    ///
    /// It was started in an environment with another `XDG_RUNTIME_DIR`, or without one.
    private func connectToOwner() -> PacketSocket? {
        guard let directory = location.directory else { return nil }
        let paths = ServiceOwner(of: directory).socketPaths
        for path in paths where path != location.socketPath {
            guard let socket = try? connectToListener(at: path), let user = socket.peer?.user else { continue }
            if user == geteuid() || user == 0 { return socket }
        }
        return nil
    }

    private func connectToListener(at path: String) throws(SystemError) -> PacketSocket? {
        do throws(SystemError) {
            return try PacketSocket.connect(to: path)
        } catch  where error.errorNumber == ENOENT || error.errorNumber == ECONNREFUSED {
            return nil
        }
    }

    private func start(_ program: String, with listener: PacketSocket) throws(SystemError) {
        var words = ["--socket-descriptor", "3"]
        if let directory = location.directory { words += ["--directory", directory] }
        try TransferProcess.start(program, arguments: words + location.arguments, passing: listener)
    }
}

extension TransferProcess {
    /// Starts the program in a session of its own, with a socket as its descriptor 3.
    package static func start(
        _ program: String,
        arguments words: [String],
        passing socket: PacketSocket
    ) throws(SystemError) {
        var arguments: [UnsafeMutablePointer<CChar>?] = ([program] + words).map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        arguments.append(nil)
        let error = eidetic_start_detached(program, &arguments, socket.rawValue)
        guard error == 0 else { throw SystemError(.spawn, errorNumber: error, path: program) }
    }
}
