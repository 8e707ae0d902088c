package import EideticCore
package import EideticFetch
import Glibc

/// The options of the transfer process.
package struct ServiceOptions: Sendable {
    package var directory = TransferLocations.directory ?? ""
    package var listeners: [Int32] = []
    package var supervisor: Int32?
    package var idleLimit: Duration? = .seconds(30)
    package var connections = TransferEngineConfiguration(directory: "").connections
    package var isSandboxed = true
    /// A Boolean value indicating whether another process on the directory is ended, as by SIGTERM.
    package var replacesOther = false

    package init() {}

    /// Adds the sockets that systemd has passed to this process, 1 to 16.
    package mutating func addPassedListeners(
        environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } },
        process: Int32 = getpid()
    ) {
        guard environment("LISTEN_PID").flatMap(Int32.init) == process,
            let count = environment("LISTEN_FDS").flatMap(Int32.init), (1...16).contains(count)
        else { return }
        listeners += 3..<3 + count
    }

    /// Throws `invalidArgument` with the reason if the process has no directory or no socket, and `fileFailure` if the
    /// file of certificates is a FIFO.
    package func check() throws(EideticError) {
        guard directory.hasPrefix("/") else {
            throw EideticError(.invalidArgument, message: "the directory is not an absolute path")
        }
        guard !listeners.isEmpty || supervisor != nil else {
            throw EideticError(
                .invalidArgument,
                message: "no socket was passed: use systemd, --socket-descriptor or --supervisor-descriptor"
            )
        }
        try connections.check()
    }
}
