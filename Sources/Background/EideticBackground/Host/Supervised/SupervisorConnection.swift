import EideticCore
import EideticSupervision
import Glibc

/// A connection to the supervisor; messages wait here until the socket takes them.
final class SupervisorConnection {
    /// The outcome of ``receive()``.
    enum Reception {
        case message(SupervisorMessage, PacketSocket.Packet)
        /// The supervisor speaks another version.
        case otherVersion(UInt16)
        case none
        /// The connection is closed, or the peer does not follow the protocol.
        case lost
    }

    private let socket: PacketSocket
    private var waiting: [(bytes: [UInt8], descriptor: KeptDescriptor?)] = []
    var isWelcome = false

    init(_ socket: PacketSocket) { self.socket = socket }

    /// Sends a message, or keeps it until the socket is writable.
    ///
    /// A message that equals the last one is not repeated, except for a request to terminate: the second one counts.
    func send(_ message: ApplicationMessage) {
        let bytes = WireWriter.encode(message)
        if message == .leaving || waiting.last?.bytes != bytes { waiting.append((bytes, nil)) }
    }

    func send(_ message: ApplicationMessage, with descriptor: KeptDescriptor?) {
        waiting.append((WireWriter.encode(message), descriptor))
    }

    /// Sends the messages that wait; returns `false` if the connection is closed.
    func flush() -> Bool {
        do throws(SystemError) {
            while let next = waiting.first,
                try socket.send(next.bytes, descriptors: next.descriptor.map { [$0.rawValue] } ?? [])
            {
                waiting.removeFirst()
            }
            return true
        } catch {
            return false
        }
    }

    func receive() -> Reception {
        do {
            switch try socket.receive() {
            case .packet(let packet):
                if !isWelcome, let version = SupervisionProtocol.otherVersion(ofGreeting: packet.bytes) {
                    for number in packet.takeDescriptors() { close(number) }
                    return .otherVersion(version)
                }
                return .message(try WireReader.decode(SupervisorMessage.self, from: packet.bytes), packet)
            case .none: return .none
            case .end: return .lost
            }
        } catch {
            Log.write(.error, category: .background, message: "a message of the supervisor is refused: \(error)")
            return .lost
        }
    }

    var pollDescriptor: pollfd {
        let events = waiting.isEmpty ? POLLIN : POLLIN | POLLOUT
        return pollfd(fd: socket.rawValue, events: Int16(events), revents: 0)
    }
}
