import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import EideticTransfer
import Glibc

/// A transfer process of a test: it keeps transfers and events in memory, over any number of connections, and transfers
/// nothing by itself.
final class ModelService: Sendable {
    struct State {
        var lastNumber: UInt64 = 0
        var transfers: [TransferStatus] = []
        var events: [TransferEvent] = []
        var added: [UInt64] = []
        var acknowledged: [UInt64] = []
        var commands: [TransferCommand] = []
        var observed: Set<String> = []
        var connections: [Int: PacketSocket] = [:]
        var connectionCount = 0
        var refusal: EideticError?
        /// The command before whose reply the service is killed.
        var killsBeforeReplying: (@Sendable (TransferCommand) -> Bool)?
        /// The gate at which additions of uploads wait, as for a file that cannot be copied for now.
        var uploadGate: Gate?
    }

    let state = Guarded(State())
    private let changes = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// Makes a connection, and serves it on a thread of its own.
    func connect() throws(SystemError) -> PacketSocket {
        let (client, server) = try PacketSocket.makePair()
        let number = state.withLock { state in
            state.connectionCount += 1
            state.connections[state.connectionCount] = server
            return state.connectionCount
        }
        Thread.start(name: "model") { [self] in serve(server, number: number) }
        return client
    }

    /// Ends all connections, as the kill of the process does.
    func kill() {
        let sockets = state.withLock { state in
            defer { (state.connections, state.observed) = ([:], []) }
            return Array(state.connections.values)
        }
        for socket in sockets { shutdown(socket.rawValue, Int32(SHUT_RDWR)) }
    }

    /// Ends a transfer, and delivers the event to the observers.
    @discardableResult
    func end(_ transfer: TransferIdentifier, with outcome: TransferEvent.Outcome) -> TransferEvent? {
        let event = state.withLock { state -> TransferEvent? in
            guard let index = state.transfers.firstIndex(where: { $0.identifier == transfer }) else { return nil }
            state.lastNumber += 1
            state.transfers[index].state = .finished
            let status = state.transfers[index]
            let event = TransferEvent(
                number: state.lastNumber,
                transfer: transfer,
                kind: status.kind,
                url: status.url,
                note: status.note,
                outcome: outcome
            )
            state.events.append(event)
            return event
        }
        if let event { notify(.event(event)) }
        return event
    }

    /// Ends a transfer with a response whose body is in a file of the directory.
    func finish(
        _ transfer: TransferIdentifier,
        bytes: [UInt8],
        status: Int = 200,
        headers: HTTPHeaders = ["ETag": "\"1\""],
        in directory: TemporaryDirectory
    ) throws {
        let path = "\(directory.path)/\(transfer)"
        let file = try FileSystem().open(path, flags: O_WRONLY | O_CREAT | O_TRUNC)
        try bytes.withUnsafeBufferPointer { buffer throws(SystemError) in
            try FileSystem().write(UnsafeRawBufferPointer(buffer), to: file)
        }
        let response = TransferEvent.Response(
            path: path,
            length: bytes.count,
            status: status,
            effectiveURL: "http://localhost/\(transfer)",
            headers: headers
        )
        end(transfer, with: .finished(response))
    }

    /// Ends a transfer with a text in a file of the directory.
    func finish(_ transfer: TransferIdentifier, body: String, in directory: TemporaryDirectory, status: Int = 200)
        throws
    {
        try finish(transfer, bytes: Array(body.utf8), status: status, in: directory)
    }

    /// The requests that were added, in order.
    var requests: [TransferRequest] {
        state.withLock { state in
            state.commands.flatMap { command -> [TransferRequest] in
                if case .add(let requests, _) = command { requests } else { [] }
            }
        }
    }

    func notify(_ notification: TransferNotification) {
        let (sockets, sessions) = state.withLock { (Array($0.connections.values), $0.observed) }
        for session in sessions {
            for socket in sockets { send(.notification(notification, session: session), number: 0, to: socket) }
        }
    }

    /// Waits until the state satisfies a condition.
    func wait<Value>(for value: (State) -> Value?) async -> Value {
        var iterator = changes.stream.makeAsyncIterator()
        while true {
            if let value = state.withLock({ value($0) }) { return value }
            _ = await iterator.next()
        }
    }
}

// MARK: Commands
extension ModelService {
    private func serve(_ socket: PacketSocket, number: Int) {
        while true {
            var descriptor = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
            poll(&descriptor, 1, -1)
            guard let reception = try? socket.receive() else { break }
            if case .none = reception { continue }
            guard case .packet(let packet) = reception, perform(packet, on: socket) else { break }
        }
        shutdown(socket.rawValue, Int32(SHUT_RDWR))
        state.withLock { $0.connections[number] = nil }
        changes.continuation.yield()
    }

    private func perform(_ packet: PacketSocket.Packet, on socket: PacketSocket) -> Bool {
        guard let command = try? WireReader.decode(NumberedMessage<TransferCommand>.self, from: packet.bytes) else {
            return false
        }
        let (kills, refusal, gate) = state.withLock { state in
            state.commands.append(command.message)
            let kills = state.killsBeforeReplying?(command.message) ?? false
            return (kills, state.refusal, command.message.addsUploads ? state.uploadGate : nil)
        }
        if let gate {
            Thread.start(name: "copy") { [self] in
                gate.block()
                send(perform(command.message), number: command.number, to: socket)
                changes.continuation.yield()
            }
            changes.continuation.yield()
            return true
        }
        let reply = refusal.map { .failed(code: "\($0.code)", message: $0.message) } ?? perform(command.message)
        if kills {
            state.withLock { $0.killsBeforeReplying = nil }
            kill()
            return false
        }
        send(reply, number: command.number, to: socket)
        if case .observe(let session) = command.message { startObservation(of: session, on: socket) }
        changes.continuation.yield()
        return true
    }

    private func perform(_ command: TransferCommand) -> TransferReply {
        state.withLock { state in
            switch command {
            case .add(let requests, let session):
                return .added(requests.map { Self.add($0, session: session, to: &state) })
            case .list(let session, let after):
                let all = state.transfers.filter { $0.identifier > after && (session == nil || $0.session == session) }
                // Pages of two, so that the client must ask for more.
                return .transfers(Array(all.prefix(2)), isLast: all.count <= 2)
            case .pause(let transfers): Self.set(.paused, of: transfers, in: &state)
            case .resume(let transfers): Self.set(.waiting, of: transfers, in: &state)
            case .acknowledge(let numbers):
                let known = state.events.filter { numbers.contains($0.number) }
                state.acknowledged += known.map(\.number)
                state.events.removeAll { numbers.contains($0.number) }
                state.transfers.removeAll { transfer in known.contains { $0.transfer == transfer.identifier } }
            case .removeSession(let session): state.transfers.removeAll { $0.session == session }
            default: break
            }
            return .done
        }
    }

    private static func add(_ request: TransferRequest, session: String, to state: inout State) -> TransferIdentifier {
        state.lastNumber += 1
        var status = TransferStatus(
            identifier: TransferIdentifier(state.lastNumber),
            session: session,
            state: .waiting,
            kind: request.kind,
            url: request.url,
            note: request.note
        )
        status.reasons = [WaitReason(.network, text: "there is no network")]
        state.transfers.append(status)
        state.added.append(status.identifier.rawValue)
        return status.identifier
    }

    private static func set(_ new: TransferStatus.State, of transfers: [TransferIdentifier], in state: inout State) {
        for index in state.transfers.indices where transfers.contains(state.transfers[index].identifier) {
            state.transfers[index].state = new
        }
    }

    private func startObservation(of session: String, on socket: PacketSocket) {
        // Under the lock, so that no later event overtakes these.
        state.withLock { state in
            state.observed.insert(session)
            for event in state.events { send(.notification(.event(event), session: session), number: 0, to: socket) }
        }
    }

    private func send(_ reply: TransferReply, number: UInt32, to socket: PacketSocket) {
        let bytes = WireWriter.encode(NumberedMessage(number: number, message: reply))
        while (try? socket.send(bytes)) == false {
            var descriptor = pollfd(fd: socket.rawValue, events: Int16(POLLOUT), revents: 0)
            poll(&descriptor, 1, -1)
        }
    }
}

extension TransferCommand {
    /// A Boolean value indicating whether the command adds uploads.
    fileprivate var addsUploads: Bool {
        guard case .add(let requests, _) = self else { return false }
        return requests.contains { $0.kind == .upload }
    }
}

extension ModelService: TransferServiceProvider {
    func connect() async throws(EideticError) -> TransferClient {
        let socket: PacketSocket
        do throws(SystemError) { socket = try connect() } catch { throw EideticError(error) }
        return try TransferClient(socket: socket, application: "test")
    }
}
