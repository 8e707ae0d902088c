import EideticCore
import EideticTransfer
import Glibc

/// The reply of a transfer process that cannot work to all clients: the reason.
///
/// Otherwise their connections would end without a word, and they would connect again and again.
struct Refusal {
    /// The error that clients receive.
    private let error: EideticError
    private var listeners: [PacketSocket]
    private var supervisor: PacketSocket?
    private var connections: [PacketSocket] = []

    /// The time without a client after which the process ends, and that after which it ends in any case.
    private static let pause = Duration.seconds(2)
    private static let limit = Duration.seconds(10)
    /// The largest number of clients that are replied to at a time; the others wait.
    private static let connectionLimit = 256

    /// Creates the refusal of clients of a process that was started with these options.
    init(_ options: ServiceOptions, because error: EideticError) {
        // Another process has the directory: the next attempt finds it.
        let code: EideticError.Code = error.code == .refused ? .connectionRefused : error.code
        self.error = EideticError(code, message: "the transfer process cannot work: \(error.message)")
        listeners = options.listeners.map { PacketSocket(adopting: $0) }
        supervisor = options.supervisor.map { PacketSocket(adopting: $0) }
        for socket in listeners + (supervisor.map { [$0] } ?? []) { socket.makeNonblocking() }
    }

    /// Replies to the clients that wait, and to those that come meanwhile.
    mutating func perform() {
        let start = SystemTime().uptime
        var end = start + Self.pause
        while case let now = SystemTime().uptime, now < min(end, start + Self.limit) {
            let awaited = connections.count < Self.connectionLimit ? listeners : []
            let sockets = awaited + connections + (supervisor.map { [$0] } ?? [])
            guard !sockets.isEmpty else { return }
            var polled = sockets.map { pollfd(fd: $0.rawValue, events: Int16(POLLIN), revents: 0) }
            guard poll(&polled, nfds_t(polled.count), 100) > 0 else { continue }
            end = now + Self.pause
            readSupervisor()
            for listener in awaited { accept(from: listener) }
            connections = connections.filter(reply)
        }
    }

    private mutating func accept(from listener: PacketSocket) {
        while connections.count < Self.connectionLimit, let socket = try? listener.accept() {
            connections.append(socket)
        }
    }

    /// Replies to what a client has sent; returns `false` if it has closed the connection.
    private func reply(to client: PacketSocket) -> Bool {
        while let reception = try? client.receive() {
            switch reception {
            case .none: return true
            case .end: return false
            case .packet(let packet):
                // The number alone: the rest may be of a version that this program does not know.
                var reader = WireReader(packet.bytes)
                guard let number = try? reader.integer(UInt32.self), number != 0 else { return false }
                let reply = TransferReply.failed(code: error.code.description, message: error.message)
                let bytes = WireWriter.encode(NumberedMessage(number: number, message: reply))
                guard (try? client.send(bytes)) == true else { return false }
            }
        }
        return false
    }

    /// Takes the sockets that the supervisor has passed.
    private mutating func readSupervisor() {
        while let socket = supervisor {
            switch try? socket.receive() {
            case .packet(let packet):
                let sockets = packet.takeSockets()
                switch try? WireReader.decode(TransferSupervision.self, from: packet.bytes) {
                case .listener: listeners += sockets
                case .connection: connections += sockets
                default: break
                }
            case .end: supervisor = nil
            default: return
            }
        }
    }
}

extension PacketSocket {
    func makeNonblocking() { _ = fcntl(rawValue, F_SETFL, fcntl(rawValue, F_GETFL) | O_NONBLOCK) }
}

extension PacketSocket.Packet {
    /// Takes the sockets that came with the packet, none of which blocks.
    func takeSockets() -> [PacketSocket] {
        let sockets = takeDescriptors().map { PacketSocket(adopting: $0) }
        for socket in sockets { socket.makeNonblocking() }
        return sockets
    }
}
