import EideticCore
import EideticLifecycle
import EideticSupervision
import Glibc

/// The connected sockets that an application has left, which wake it for data while it does not run.
struct KeptSockets: ApplicationComponent {
    private static let countLimit = 8

    private var sockets: [String: KeptSocket] = [:]
    private var isWatching = false

    /// The time at which a socket is watched again after a pause.
    var deadline: Duration? { isWatching ? sockets.values.compactMap(\.pauseEnd).min() : nil }

    /// The messages that pass the sockets to a process, and the socket that each brings along.
    var messages: [(message: SupervisorMessage, socket: Connection.Attachment)] {
        sockets.map { name, socket in
            (.wakes(.socket(name)), Connection.Attachment(descriptor: socket.descriptor.rawValue, owner: socket))
        }
    }

    var names: [String] { sockets.keys.sorted() }

    /// Keeps the socket that a packet brings along, unless there are too many.
    mutating func keep(
        _ packet: PacketSocket.Packet,
        named name: String,
        pause: Duration,
        with poller: Poller,
        receive: @escaping () -> Void
    ) -> [ApplicationEffect] {
        guard sockets[name] != nil || sockets.count < Self.countLimit else { return [] }
        let numbers = packet.takeDescriptors()
        for number in numbers.dropFirst() { close(number) }
        guard let number = numbers.first else { return [.log("the socket \(name) came without a descriptor")] }
        sockets[name] = KeptSocket(adopting: number, poller: poller, pause: pause, receive: receive)
        return []
    }

    mutating func release(_ name: String) { sockets[name] = nil }

    /// Watches the sockets while no process of the application runs that reads them.
    mutating func handle(_ change: ApplicationChange, in view: ApplicationView) -> [ApplicationEffect] {
        guard !sockets.isEmpty else { return [] }
        let isAway = view.process?.isSuspended ?? true
        // Data that wakes nobody would be found again and again.
        isWatching = isAway && !view.isWokenForData && view.lifecycle.mayBeWoken(for: .voip)
        for socket in sockets.values {
            if isWatching { socket.watchUnreadData(at: view.now) } else { socket.isWatched = false }
        }
        return []
    }

    /// Wakes the application for the data on a socket, or for its end.
    mutating func receiveData(on name: String, at now: Duration) -> [ApplicationEffect] {
        guard let socket = sockets[name] else { return [] }
        socket.isWatched = false
        guard let data = socket.peek(limit: WakeReason.payloadLimit) else {
            sockets[name] = nil
            return [.log("the socket \(name) was closed by its other end"), .wake(.voip, session: name, payload: [])]
        }
        // Its descriptor comes first, for a process that was launched for the data.
        guard !data.isEmpty else { return [] }
        guard socket.admit(data, at: now) else {
            return [.log("the data on the socket \(name) was not read: the application is woken for it later")]
        }
        return [.wake(.voip, session: name, payload: data)]
    }
}
