import EideticCore
import EideticSupervision
import Glibc

/// The ways to the supervisor: an inherited socket, or one in the runtime directory.
enum SupervisorAddress {
    /// Connects as configured; `nil` without a supervisor.
    static func connect(_ configuration: Application.Configuration) -> PacketSocket? {
        if let socket = inherited(configuration.supervisorDescriptor) { return socket }
        guard configuration.connectsToSupervisor else { return nil }
        let directory = SupervisionProtocol.defaultRuntimeDirectory
        return connect(to: configuration.supervisorSocketPath ?? "\(directory)/\(SupervisionProtocol.socketName)")
    }

    /// Connects to a socket; `nil` if nobody listens, or a user listens who is neither this one nor root.
    static func connect(to path: String) -> PacketSocket? {
        do throws(SystemError) {
            let socket = try PacketSocket.connect(to: path)
            return isTrusted(socket) ? socket : nil
        } catch {
            Log.write(.info, category: .background, message: "cannot connect to the supervisor: \(error)")
            return nil
        }
    }

    /// Returns the socket that the supervisor left to this process, whose number is in the environment.
    ///
    /// Children of this process inherit the variable, but not the socket.
    private static func inherited(_ given: Int32?) -> PacketSocket? {
        let text = getenv(SupervisionProtocol.descriptorVariable).map { String(cString: $0) }
        guard let number = given ?? text.flatMap({ Int32($0) }), number > STDERR_FILENO else { return nil }
        var kind = Int32(0)
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(number, SOL_SOCKET, SO_TYPE, &kind, &size) == 0, kind == SOCK_SEQPACKET.rawValue else {
            return nil
        }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
        let socket = PacketSocket(adopting: number)
        return isTrusted(socket) ? socket : nil
    }

    private static func isTrusted(_ socket: PacketSocket) -> Bool {
        guard let user = socket.peer?.user else { return false }
        return user == 0 || user == geteuid()
    }
}
