package import EideticCore
package import EideticFetch
import Glibc

/// Serves the connections of applications, on the thread of a ``TransferEngine``.
package final class TransferServer {
    private var listeners: [PacketSocket]
    private var supervisor: PacketSocket?
    private var connections: [ServiceConnection] = []
    private let idleLimit: Duration?
    private let time: any TimeSource
    private var idleSince: Duration?
    /// A function that gives the pages of code back to the system, and the uptime at which it is called.
    private let releaseCode: () -> Void
    private var codeRelease: Duration?
    private var waitingWakes: [TransferSupervision] = []
    /// The uptime before which no connection is accepted, because the process has no descriptors left.
    private var acceptNotBefore: Duration = .zero

    /// The time without messages after which the code that handled them is given back.
    private static let codeInterval: Duration = .seconds(1)
    /// The largest number of connections.
    private static let connectionLimit = 256

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - listeners: Listening sockets.
    ///   - supervisor: The supervisor's socket, over which connections are handed over.
    ///   - idleLimit: The time without connections and transfers after which the engine is stopped; `nil` for no limit.
    ///   - time: The clock for this time.
    ///   - releaseCode: A function that gives the pages of code back to the system; called after messages, at rest.
    package init(
        listeners: [Int32],
        supervisor: Int32?,
        idleLimit: Duration?,
        time: any TimeSource = SystemTime(),
        releaseCode: @escaping () -> Void = {}
    ) {
        self.listeners = listeners.map { PacketSocket(adopting: $0) }
        self.supervisor = supervisor.map { PacketSocket(adopting: $0) }
        self.idleLimit = idleLimit
        self.time = time
        self.releaseCode = releaseCode
        for socket in self.listeners + (self.supervisor.map { [$0] } ?? []) { socket.makeNonblocking() }
    }

    /// Serves until the engine is stopped.
    package func run(_ engine: TransferEngine) {
        engine.delivery.onWake = { [unowned self] application, session in
            waitingWakes.append(.wake(application: application, session: session))
            sendWakes()
        }
        publishSockets(engine)
        engine.run(server: self)
    }

    private func publishSockets(_ engine: TransferEngine) { engine.publish(socketPaths: listeners.compactMap(\.path)) }

    /// The descriptors, and the events to wait for.
    package var descriptors: [PollDescriptor] {
        // A listener that cannot be served would be ready at once, again and again.
        let canAccept = connections.count < Self.connectionLimit && time.uptime >= acceptNotBefore
        return (canAccept ? listeners : []).map { PollDescriptor($0.rawValue) }
            + (supervisorDescriptor.map { [$0] } ?? []) + connections.map(\.pollDescriptor)
    }

    private var supervisorDescriptor: PollDescriptor? {
        let events = PollDescriptor.readable | (waitingWakes.isEmpty ? 0 : PollDescriptor.writable)
        return supervisor.map { PollDescriptor($0.rawValue, events: events) }
    }

    /// The uptime at which ``handle(_:for:)`` is called without an event; `nil` for none.
    package var nextDeadline: Duration? {
        let retry = acceptNotBefore > time.uptime ? acceptNotBefore : nil
        let idleEnd = idleSince.flatMap { start in idleLimit.map { start + $0 } }
        return [idleEnd, retry, codeRelease].compactMap { $0 }.min()
    }

    /// Handles the events; called in each turn of the engine's loop.
    package func handle(_ descriptors: [PollDescriptor], for engine: TransferEngine) {
        let ready = Set(descriptors.filter { $0.returnedEvents != 0 }.map(\.number))
        for connection in connections where ready.contains(connection.socket.rawValue) { connection.serve(engine) }
        for connection in connections where connection.isClosed { connection.end(engine) }
        connections.removeAll(where: \.isClosed)
        for listener in listeners where ready.contains(listener.rawValue) { accept(from: listener) }
        if let supervisor, ready.contains(supervisor.rawValue) { receive(from: supervisor, for: engine) }
        releaseCode(afterMessages: !ready.isEmpty)
        stopIfIdle(engine)
    }

    private func releaseCode(afterMessages hasMessages: Bool) {
        if hasMessages {
            codeRelease = time.uptime + Self.codeInterval
        } else if let moment = codeRelease, moment <= time.uptime {
            codeRelease = nil
            releaseCode()
        }
    }

    private func accept(from listener: PacketSocket) {
        do throws(SystemError) {
            while connections.count < Self.connectionLimit, let socket = try listener.accept() {
                // The service acts for its own user only.
                guard let peer = socket.peer, peer.user == getuid() || peer.user == 0 else { continue }
                connections.append(ServiceConnection(socket, application: nil))
            }
        } catch {
            Log.write(.warning, category: .fetch, message: "a connection cannot be accepted: \(error)")
            acceptNotBefore = time.uptime + .seconds(1)
        }
    }

    private func stopIfIdle(_ engine: TransferEngine) {
        guard let idleLimit, supervisor == nil, connections.isEmpty, engine.isIdle else { return idleSince = nil }
        let start = idleSince ?? time.uptime
        idleSince = start
        if time.uptime - start >= idleLimit { engine.stop() }
    }
}

// MARK: The supervisor
extension TransferServer {
    private func receive(from socket: PacketSocket, for engine: TransferEngine) {
        sendWakes()
        while true {
            switch try? socket.receive() {
            case .packet(let packet): receive(packet, for: engine)
            case .end:
                supervisor = nil
                // Nobody is left to release what is held.
                return engine.delivery.releaseAll()
            default: return
            }
        }
    }

    private func receive(_ packet: PacketSocket.Packet, for engine: TransferEngine) {
        switch try? WireReader.decode(TransferSupervision.self, from: packet.bytes) {
        case .connection(let application):
            for socket in packet.takeSockets() {
                connections.append(ServiceConnection(socket, application: application))
            }
        case .listener:
            listeners += packet.takeSockets()
            publishSockets(engine)
        case .hold(let application, let isHeld): engine.delivery.setHeld(isHeld, application: application)
        case .forceQuit(let application): engine.forceQuit(application)
        case .network(let isMetered): engine.setMetered(isMetered)
        case .wakeFailed(let application, let session): engine.delivery.wakeFailed(session, of: application)
        case .wake, nil: break
        }
    }

    private func sendWakes() {
        guard let supervisor else { return waitingWakes.removeAll() }
        while let message = waitingWakes.first {
            guard (try? supervisor.send(WireWriter.encode(message))) ?? true else { return }
            waitingWakes.removeFirst()
        }
    }
}
