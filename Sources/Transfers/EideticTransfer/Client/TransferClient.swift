package import EideticCore
import Glibc

/// A connection of an application to the transfer process: commands with their replies, and notifications of sessions.
///
/// Sessions, transfers and events outlive both processes. All functions can be called on any thread; one thread sends
/// and receives packets. When the connection ends, all commands that have no reply fail with `connectionLost`.
package final class TransferClient: Sendable {
    typealias Completion = @Sendable (Result<TransferReply, EideticError>) -> Void

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
        /// A Boolean value indicating whether the connection has ended.
        var isLost = false
        var onLoss: (@Sendable () -> Void)?
        /// The error with which the service has refused this application.
        var refusal: EideticError?
    }

    let state = Guarded(State())
    private let socket: PacketSocket
    private let wakeUp: WakeUpEvent

    /// Creates a client of a connected socket, and starts its thread.
    ///
    /// - Parameters:
    ///   - socket: One end of a connection; the other one is the transfer process's.
    ///   - application: The name of the application, to which its sessions belong; at most 255 bytes.
    ///   - secret: The secret of ``ApplicationSecret``; by default none.
    ///   - onEnd: The first function for ``onLoss(_:)``.
    /// - Throws: An error of the system if no pipe can be created.
    package init(
        socket: PacketSocket,
        application: String,
        secret: [UInt8] = [],
        onEnd: @escaping @Sendable () -> Void = {}
    ) throws(EideticError) {
        self.socket = socket
        state.withLock { $0.onLoss = onEnd }
        do throws(SystemError) { wakeUp = try WakeUpEvent() } catch { throw EideticError(error) }
        Thread.start(name: "eidetic-transfr") { [self] in run() }
        let hello = TransferCommand.hello(version: TransferCommand.version, application: application, secret: secret)
        send(hello, files: nil) { [weak self] result in
            guard case .success(.failed(let code, let message)) = result else { return }
            let error = EideticError(EideticError.Code(named: code) ?? .refused, message: message)
            self?.state.withLock { $0.refusal = error }
        }
    }

    package func close() {
        state.withLock { $0.isClosed = true }
        wakeUp.signal()
    }

    /// A Boolean value indicating whether the process cannot be reached any more.
    package var isLost: Bool { state.withLock { $0.isLost } }

    /// Sets the function that is called once when the connection has ended, at once if it has.
    package func onLoss(_ handler: @escaping @Sendable () -> Void) {
        let isLost = state.withLock { state in
            state.onLoss = state.isLost ? nil : handler
            return state.isLost
        }
        if isLost { handler() }
    }

    /// Sends a command, and waits for its reply.
    func reply(to command: TransferCommand, files: UploadFiles? = nil) async throws(EideticError) -> TransferReply {
        let result: Result<TransferReply, EideticError> = await withCheckedContinuation { continuation in
            send(command, files: files) { continuation.resume(returning: $0) }
        }
        let reply = try result.get()
        if case .failed(let code, let message) = reply {
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
        wakeUp.clear()
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
                completion?(.success(message.message))
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
            state.isLost = true
            state.onLoss = nil
            state.completions = [:]
            state.observers = [:]
            state.outgoing = []
            return ended
        }
        // The transfer process learns it now, however long somebody keeps this object.
        shutdown(socket.rawValue, Int32(SHUT_RDWR))
        for completion in ended.completions.values { completion(.failure(ended.refusal ?? Self.lost)) }
        ended.onLoss?()
    }
}

// MARK: Commands
extension TransferClient {
    /// Creates a session, or changes the settings of an existing one with the same identifier.
    ///
    /// - Throws: `limitExceeded` for more than 64 sessions; `invalidArgument` for a setting out of range.
    package func openSession(_ configuration: TransferSessionConfiguration) async throws(EideticError) {
        _ = try await reply(to: .openSession(configuration))
    }

    /// Cancels all transfers of a session, and removes it with its events and files.
    package func removeSession(_ identifier: String) async throws(EideticError) {
        _ = try await reply(to: .removeSession(identifier))
    }

    /// Adds transfers to a session; returns after they are safe on disk, with one identifier for each.
    ///
    /// The body of an upload is copied before the function returns. Either all requests are added or none.
    ///
    /// - Throws: `limitExceeded` for more than 10,000 transfers; `invalidURL` and `invalidArgument` for a request that
    ///   cannot be sent; `notFound` for an unknown session; an error of the file system.
    package func add(
        _ requests: [TransferRequest],
        to session: String
    ) async throws(EideticError) -> [TransferIdentifier] {
        let files = try await UploadFiles.open(requests.compactMap(\.filePath))
        guard case .added(let transfers) = try await reply(to: .add(requests, session: session), files: files),
            transfers.count == requests.count
        else { throw Self.unexpectedReply }
        return transfers
    }

    /// Returns the transfers of a session, or of all sessions, in the order in which they were added; also those that
    /// have ended with an event that is not acknowledged.
    package func transfers(in session: String?) async throws(EideticError) -> [TransferStatus] {
        var all: [TransferStatus] = []
        var after = TransferIdentifier(0)
        while true {
            guard case .transfers(let page, let isLast) = try await reply(to: .list(session: session, after: after))
            else { throw Self.unexpectedReply }
            all += page
            guard !isLast, let last = page.map(\.identifier).max(), last > after else { return all }
            after = last
        }
    }

    /// Pauses transfers that have not ended; they keep what they have received.
    package func pause(_ transfers: [TransferIdentifier]) async throws(EideticError) {
        _ = try await reply(to: .pause(transfers))
    }

    /// Resumes paused transfers, and attempts those that wait for a delay at once.
    package func resume(_ transfers: [TransferIdentifier]) async throws(EideticError) {
        _ = try await reply(to: .resume(transfers))
    }

    /// Cancels transfers that have not ended; each ends with the event `cancelled`, or another one that came first.
    ///
    /// With `keepsResumeData`, the received part of a download is kept, and the event has the data to resume it.
    package func cancel(_ transfers: [TransferIdentifier], keepsResumeData: Bool) async throws(EideticError) {
        _ = try await reply(to: .cancel(transfers, keepsResumeData: keepsResumeData))
    }

    /// Acknowledges events: they are not delivered again, and the files of their transfers are removed.
    package func acknowledge(_ events: [UInt64]) async throws(EideticError) {
        _ = try await reply(to: .acknowledge(events))
    }

    /// Delivers the events of a session in order: first those that are not acknowledged, then new ones.
    ///
    /// An event may be delivered again, with the same number, until it is acknowledged. The handler is called on the
    /// client's thread and must return quickly. The delivery ends when the observation is released.
    package func observe(
        _ session: String,
        handler: @escaping @Sendable (TransferNotification) -> Void
    ) async throws(EideticError) -> TransferObservation {
        // The handler that was there is released without the lock.
        let (number, replaced) = state.withLock { state in
            state.observerCount += 1
            let observer = (number: state.observerCount, handler: handler)
            return (observer.number, state.observers.updateValue(observer, forKey: session))
        }
        withExtendedLifetime(replaced) {}
        do throws(EideticError) {
            _ = try await reply(to: .observe(session: session))
        } catch {
            _ = removeObserver(of: session, number: number)
            throw error
        }
        return TransferObservation { [weak self] in self?.endObservation(of: session, number: number) }
    }

    private func endObservation(of session: String, number: UInt64) {
        guard removeObserver(of: session, number: number) else { return }
        Task { _ = try? await reply(to: .endObservation(session: session)) }
    }

    /// Removes the observer with a number; returns `false` if there is another one, or none.
    private func removeObserver(of session: String, number: UInt64) -> Bool {
        // The handler is released without the lock, as what it holds may end another observation.
        let removed = state.withLock { state in
            state.observers[session]?.number == number ? state.observers.removeValue(forKey: session) : nil
        }
        return removed != nil
    }

    private static let unexpectedReply = EideticError(
        .connectionLost,
        message: "the transfer process has sent a reply of another kind"
    )
}

/// A delivery of events, which ends when the object is released.
package final class TransferObservation: Sendable {
    private let onEnd: @Sendable () -> Void

    /// Creates an observation that calls `onEnd` when it is released.
    package init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
}
