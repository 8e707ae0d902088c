package import EideticCore
import Glibc

/// The command line and the environment of `eidetic-transferd`.
package struct ServiceOptions: Sendable {
    package var directory: String
    package var listeners: [Int32] = []
    package var supervisor: Int32?
    package var idleLimit: Duration? = .seconds(30)
    package var certificateAuthorityFile: String?
    package var isSandboxed = true
    /// A Boolean value indicating whether another process on the directory is ended, as by SIGTERM.
    package var replacesOther = false

    package static let usage = """
        usage: eidetic-transferd [--directory PATH] [--socket-descriptor N] [--supervisor-descriptor N]
                                 [--idle-exit SECONDS|never] [--certificates PATH] [--replace] [--no-sandbox]

        Performs background transfers for the applications of one user. It is given its sockets: by systemd (LISTEN_FDS),
        by a client (a listening socket), or by the supervisor.
        """

    /// Parses the arguments, without the name of the program.
    ///
    /// - Throws: `invalidArgument`; its message has the reason.
    package init(
        arguments: [String],
        environment: (String) -> String?,
        process: Int32 = getpid()
    ) throws(EideticError) {
        directory = TransferLocations.directory ?? ""
        var rest = arguments[...]
        while let name = rest.popFirst() {
            switch name {
            case "--no-sandbox": isSandboxed = false
            case "--replace": replacesOther = true
            default:
                guard let value = rest.popFirst() else { throw Self.invalid("\(name) needs a value\n\(Self.usage)") }
                try apply(name, value: value)
            }
        }
        if environment("LISTEN_PID").flatMap(Int32.init) == process,
            let count = environment("LISTEN_FDS").flatMap(Int32.init), (1...16).contains(count)
        {
            listeners += (3..<3 + count)
        }
        guard directory.hasPrefix("/") else { throw Self.invalid("the directory is not an absolute path") }
        guard !listeners.isEmpty || supervisor != nil else {
            throw Self.invalid("no socket was passed: use systemd, --socket-descriptor or --supervisor-descriptor")
        }
    }

    private mutating func apply(_ name: String, value: String) throws(EideticError) {
        switch name {
        case "--directory": directory = value
        case "--socket-descriptor": listeners.append(try Self.descriptor(value))
        case "--supervisor-descriptor": supervisor = try Self.descriptor(value)
        case "--certificates": certificateAuthorityFile = value
        case "--idle-exit" where value == "never": idleLimit = nil
        case "--idle-exit":
            guard let seconds = Int(value), (0...86_400).contains(seconds) else {
                throw Self.invalid("--idle-exit is 0 to 86400 seconds, or never")
            }
            idleLimit = .seconds(seconds)
        default: throw Self.invalid("unknown option \(name)\n\(Self.usage)")
        }
    }

    private static func descriptor(_ text: String) throws(EideticError) -> Int32 {
        guard let number = Int32(text), number > 2, fcntl(number, F_GETFD) >= 0 else {
            throw invalid("\(text) is not an open descriptor")
        }
        return number
    }

    private static func invalid(_ message: String) -> EideticError { EideticError(.invalidArgument, message: message) }
}
