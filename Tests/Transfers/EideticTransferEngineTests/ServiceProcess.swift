import EideticCore
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc

/// The transfer process as a child of the test, which holds its listening socket.
final class ServiceProcess: Sendable {
    let directory: String
    let socketPath: String
    private let listener: PacketSocket
    private let arguments: [String]
    private let process = Guarded<pid_t>(0)

    /// Creates a process whose socket and whose transfers are in a directory.
    convenience init(in directory: TemporaryDirectory) throws {
        try self.init(directory: directory.path(of: "transfers"), socketPath: directory.path(of: "socket"))
    }

    /// Creates a socket, and starts the process.
    init(directory: String, socketPath: String, arguments: [String] = []) throws {
        (self.directory, self.socketPath, self.arguments) = (directory, socketPath, arguments)
        listener = try PacketSocket.listen(at: socketPath)
        try start()
    }

    deinit { kill() }

    var identifier: pid_t { process.withLock { $0 } }

    /// A Boolean value indicating whether the process has not ended.
    var isRunning: Bool { waitpid(identifier, nil, WNOHANG) == 0 }

    /// Returns the path of an executable beside this test bundle.
    static func path(of program: String) -> String {
        BuiltProgram.path(of: program)
    }

    /// Starts the process with the listening socket as its descriptor 3.
    func start() throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, listener.rawValue, 3)
        let program = Self.path(of: "eidetic-transferd")
        let words = [program, "--socket-descriptor", "3", "--directory", directory, "--idle-exit", "never"] + arguments
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        var number = pid_t()
        let error = posix_spawn(&number, program, &actions, nil, &pointers, environ)
        guard error == 0 else { throw SystemError(.spawn, errorNumber: error, path: program) }
        let started = number
        process.withLock { $0 = started }
    }

    /// Kills the process with SIGKILL, and waits until it is gone.
    func kill() {
        let number = process.withLock { number in
            defer { number = 0 }
            return number
        }
        guard number > 0 else { return }
        Glibc.kill(number, SIGKILL)
        var status: Int32 = 0
        while waitpid(number, &status, 0) < 0, errno == EINTR {}
    }

    /// Connects an application.
    func connect(_ application: String = "org.example.Test", secret: [UInt8] = []) throws -> TransferClient {
        try TransferClient(socket: PacketSocket.connect(to: socketPath), application: application, secret: secret) {}
    }

    /// A number of `/proc/PID/status` in kilobytes, such as "VmRSS".
    func memory(_ name: String) throws -> Int {
        let text = String(decoding: try FileSystem().contents(of: "/proc/\(identifier)/status"), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(name):") } ?? ""
        return Int(line.split(whereSeparator: { !$0.isNumber }).first ?? "") ?? 0
    }
}
