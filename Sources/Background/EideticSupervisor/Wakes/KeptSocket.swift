import EideticCore
import EideticLifecycle
import EideticSupervision
import Glibc

/// A connected socket that an application has left with the supervisor, which watches it while the application does not
/// run.
final class KeptSocket {
    let descriptor: FileDescriptor
    private let poller: Poller
    private let receive: () -> Void
    private var watch: Poller.Watch?
    private var pauses: UnreadDataPauses
    /// The time before which the same data wakes nobody; `nil` if it does.
    private(set) var pauseEnd: Duration?

    init(adopting number: Int32, poller: Poller, pause: Duration, receive: @escaping () -> Void) {
        descriptor = FileDescriptor(adopting: number)
        (self.poller, self.receive) = (poller, receive)
        pauses = UnreadDataPauses(first: pause)
    }

    /// A Boolean value indicating whether the socket is watched for data.
    var isWatched: Bool {
        get { watch != nil }
        set {
            guard newValue != isWatched else { return }
            watch = newValue ? poller.watch(descriptor.rawValue) { [unowned self] in self.receive() } : nil
        }
    }

    /// Watches the socket, unless the application was just woken for the data that waits, and has not read it.
    func watchUnreadData(at now: Duration) {
        if !isWatched, pauses.isExpectingData {
            pauses.observe(peek(limit: WakeReason.payloadLimit) ?? [])
            if !pauses.isExpectingData { pauseEnd = nil }
        }
        if let pauseEnd, pauseEnd > now { return isWatched = false }
        pauseEnd = nil
        isWatched = true
    }

    /// Returns a Boolean value indicating whether data wakes the application now; otherwise it does after a pause.
    func admit(_ data: [UInt8], at now: Duration) -> Bool {
        pauseEnd = pauses.admit(data, at: now)
        return pauseEnd == nil
    }

    /// The data that has arrived, which stays in the socket; `nil` if the other end has closed the connection.
    func peek(limit: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = recv(descriptor.rawValue, &bytes, limit, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        if count < 0 { return errno == EAGAIN ? [] : nil }
        return count == 0 ? nil : Array(bytes.prefix(count))
    }
}

// Sockets of applications that are woken for data.
extension SupervisedApplication {
    static let keptSocketLimit = 8

    func keepSocket(_ packet: PacketSocket.Packet, name: String) {
        guard declares(.voip, number: 0), keptSockets[name] != nil || keptSockets.count < Self.keptSocketLimit else {
            return
        }
        let numbers = packet.takeDescriptors()
        for number in numbers.dropFirst() { close(number) }
        guard let number = numbers.first else { return log("the socket \(name) came without a descriptor") }
        keptSockets[name] = KeptSocket(
            adopting: number,
            poller: context.poller,
            pause: context.configuration.unreadDataPause
        ) { [unowned self] in self.receiveData(on: name) }
    }

    /// Passes the sockets of an earlier process to one that was launched.
    func passSockets(to process: RunningProcess) {
        guard lifecycle.reachedState == .launchingInBackground || lifecycle.reachedState == .launching else { return }
        for (name, socket) in keptSockets {
            process.connection?.send(
                WireWriter.encode(SupervisorMessage.wakes(.socket(name))),
                attachment: Connection.Attachment(descriptor: socket.descriptor.rawValue, owner: socket)
            )
        }
    }

    /// Watches the sockets while no process of the application runs that reads them.
    func watchSockets(at now: Duration) {
        let isWatching = isWatchingSockets
        for socket in keptSockets.values {
            if isWatching { socket.watchUnreadData(at: now) } else { socket.isWatched = false }
        }
    }

    private var isWatchingSockets: Bool {
        let isAway = process == nil || process?.suspensionTime != nil
        let isWoken = activeWakes.values.contains { $0.kind == .voip }
        // Data that wakes nobody would be found again and again.
        return isAway && !isWoken && lifecycle.mayBeWoken(for: .voip)
    }

    /// The time of the next ``watchSockets(at:)``; `nil` if only an event can change anything.
    var socketCheck: Duration? {
        guard !keptSockets.isEmpty, isWatchingSockets else { return nil }
        return keptSockets.values.compactMap(\.pauseEnd).min()
    }

    private func receiveData(on name: String) {
        guard let socket = keptSockets[name] else { return }
        socket.isWatched = false
        guard let data = socket.peek(limit: WakeReason.payloadLimit) else {
            log("the socket \(name) was closed by its other end")
            keptSockets[name] = nil
            return start(.voip, session: name, at: context.clock.now)
        }
        // Its descriptor comes first, for a process that was launched for the data.
        guard !data.isEmpty else { return }
        guard socket.admit(data, at: Clock.now) else {
            return log("the data on the socket \(name) was not read: the application is woken for it later")
        }
        start(.voip, session: name, payload: data, at: context.clock.now)
    }
}
