package import EideticCore
import Glibc

/// A connection to the transfer process: commands with their replies, and the notifications of observed sessions.
///
/// One thread sends and receives packets. When the connection ends, all commands that have no reply fail with
/// `connectionLost`.
package final class TransferClient: Sendable {
    /// A reply with the descriptors that came with it.
    struct Reply: Sendable {
        let value: TransferReply
        let packet: PacketSocket.Packet
    }

    typealias Completion = @Sendable (Result<Reply, EideticError>) -> Void

    struct Outgoing: Sendable {
        let bytes: [UInt8]
        let descriptors: [Int32]
        /// Keeps the descriptors open until they are sent.
        let owner: UploadFiles?
    }

    struct State {
        var lastNumber: UInt32 = 0
        var outgoing: [Outgoing] = []
        var completions: [UInt32: Completion] = [:]
        var observers: [String: (number: UInt64, handler: @Sendable (TransferNotification) -> Void)] = [:]
        var observerCount: UInt64 = 0
        var isClosed = false
        /// The error with which the service has refused this application.
        var refusal: EideticError?
    }

    let state = Guarded(State())
    private let socket: PacketSocket
    private let wakeUp: WakeUpPipe
    private let onEnd: @Sendable () -> Void

    /// Creates a client of a connected socket, and starts its thread.
    ///
    /// - Parameters:
    ///   - socket: One end of a connection; the other one is the transfer process's.
    ///   - application: The name of the application, to which its sessions belong; at most 255 bytes.
    ///   - secret: The secret of ``ApplicationSecret``; by default none.
    ///   - onEnd: Called once, on the client's thread, when the connection has ended.
    /// - Throws: An error of the system if no pipe can be created.
    package init(
        socket: PacketSocket,
        application: String,
        secret: [UInt8] = [],
        onEnd: @escaping @Sendable () -> Void
    ) throws(EideticError) {
        self.socket = socket
        self.onEnd = onEnd
        do throws(SystemError) { wakeUp = try WakeUpPipe() } catch { throw EideticError(error) }
        Thread.start(name: "eidetic-transfr") { [self] in run() }
        let hello = TransferCommand.hello(version: TransferCommand.version, application: application, secret: secret)
        send(hello, files: nil) { [weak self] result in
            guard case .success(let reply) = result, case .failed(let code, let message) = reply.value else { return }
            let error = EideticError(EideticError.Code(named: code) ?? .refused, message: message)
            self?.state.withLock { $0.refusal = error }
        }
    }

    /// Ends the connection.
    package func close() {
        state.withLock { $0.isClosed = true }
        wakeUp.signal()
    }

    /// Sends a command, and waits for its reply.
    func reply(to command: TransferCommand, files: UploadFiles? = nil) async throws(EideticError) -> Reply {
        let result: Result<Reply, EideticError> = await withCheckedContinuation { continuation in
            send(command, files: files) { continuation.resume(returning: $0) }
        }
        let reply = try result.get()
        if case .failed(let code, let message) = reply.value {
            throw EideticError(EideticError.Code(named: code) ?? .refused, message: message)
        }
        return reply
    }

    private func send(_ command: TransferCommand, files: UploadFiles?, completion: @escaping Completion) {
        let fault = state.withLock { state -> EideticError? in
            guard !state.isClosed else { return state.refusal ?? Self.lost }
            let number = state.lastNumber == .max ? 1 : state.lastNumber + 1
            let bytes = WireWriter.encode(NumberedMessage(number: number, message: command))
            // The limit is the message's: the connection serves the other commands.
            guard bytes.count <= PacketSocket.maximumPacketLength else { return Self.excess(bytes.count) }
            state.lastNumber = number
            state.outgoing.append(Outgoing(bytes: bytes, descriptors: files?.descriptors ?? [], owner: files))
            state.completions[number] = completion
            return nil
        }
        if let fault { completion(.failure(fault)) } else { wakeUp.signal() }
    }

    private static func excess(_ count: Int) -> EideticError {
        let limit = PacketSocket.maximumPacketLength
        return EideticError(.limitExceeded, message: "a message of \(count) bytes exceeds the limit of \(limit)")
    }

    static let lost = EideticError(.connectionLost, message: "the connection to the transfer process has ended")
}

// MARK: The thread
extension TransferClient {
    private func run() {
        do throws(SystemError) {
            // What arrived before the other end closed the connection may be the reason.
            while case let isOpen = try sendPackets(), try receivePackets(), isOpen { wait() }
        } catch {
            Log.write(.warning, category: .background, message: "transfer process: \(error)")
        }
        end()
    }

    private func wait() {
        let isSending = state.withLock { !$0.outgoing.isEmpty }
        let events = Int16(POLLIN) | (isSending ? Int16(POLLOUT) : 0)
        var descriptors = [
            pollfd(fd: socket.rawValue, events: events, revents: 0),
            pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        poll(&descriptors, 2, -1)
        wakeUp.drain()
    }

    /// Sends what can be sent now; returns `false` if the connection is closed.
    private func sendPackets() throws(SystemError) -> Bool {
        while true {
            let (next, isClosed) = state.withLock { ($0.outgoing.first, $0.isClosed) }
            if isClosed { return false }
            guard let next else { return true }
            do throws(SystemError) {
                guard try socket.send(next.bytes, descriptors: next.descriptors) else { return true }
            } catch  where error.errorNumber == EPIPE || error.errorNumber == ECONNRESET {
                return false
            }
            _ = state.withLock { $0.outgoing.removeFirst() }
        }
    }

    private func receivePackets() throws(SystemError) -> Bool {
        while true {
            switch try socket.receive() {
            case .none: return true
            case .end: return false
            case .packet(let packet): guard receive(packet) else { return false }
            }
        }
    }

    /// Returns `false` if the packet is not one of the protocol.
    private func receive(_ packet: PacketSocket.Packet) -> Bool {
        do throws(WireError) {
            let message = try WireReader.decode(NumberedMessage<TransferReply>.self, from: packet.bytes)
            if case .notification(let notification, let session) = message.message {
                state.withLock { $0.isClosed ? nil : $0.observers[session]?.handler }?(notification)
            } else {
                let completion = state.withLock { $0.completions.removeValue(forKey: message.number) }
                completion?(.success(Reply(value: message.message, packet: packet)))
            }
            return true
        } catch {
            Log.write(.error, category: .background, message: "transfer process: unreadable reply: \(error)")
            return false
        }
    }

    private func end() {
        // What it held is released without the lock: a handler may hold the last reference to its own observation.
        let ended = state.withLock { state in
            let ended = state
            state.isClosed = true
            state.completions = [:]
            state.observers = [:]
            state.outgoing = []
            return ended
        }
        // The transfer process learns it now, however long somebody keeps this object.
        shutdown(socket.rawValue, Int32(SHUT_RDWR))
        for completion in ended.completions.values { completion(.failure(ended.refusal ?? Self.lost)) }
        onEnd()
    }
}
