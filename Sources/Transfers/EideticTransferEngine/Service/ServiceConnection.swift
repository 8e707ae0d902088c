import EideticCore
import EideticFetch
import EideticTransfer
import Glibc

/// The connection of an application; used on the engine's thread only.
final class ServiceConnection {
    let socket: PacketSocket
    /// The application; `nil` until it has introduced itself.
    private var application: String?
    private let isIdentityFixed: Bool
    private var outgoing: [[UInt8]] = []
    private var observers: [String: (observer: EventDelivery.Observer, session: UInt32)] = [:]
    private(set) var isClosed = false
    private var hasGreeted = false

    /// The number of packets that wait to be sent above which no more are read or delivered.
    private static let outgoingLimit = 64
    /// The number of packets that are read in one turn of the loop.
    private static let turnLimit = 32

    init(_ socket: PacketSocket, application: String?) {
        self.socket = socket
        self.application = application
        isIdentityFixed = application != nil
    }

    var pollDescriptor: PollDescriptor {
        var events = outgoing.count < Self.outgoingLimit ? PollDescriptor.readable : 0
        if !outgoing.isEmpty { events |= PollDescriptor.writable }
        return PollDescriptor(socket.rawValue, events: events)
    }

    /// Reads and sends what is possible.
    func serve(_ engine: TransferEngine) {
        flush()
        continueDelivery(engine)
        for _ in 0..<Self.turnLimit where !isClosed && outgoing.count < Self.outgoingLimit {
            do throws(SystemError) {
                switch try socket.receive() {
                case .packet(let packet): receive(packet, for: engine)
                case .none: return
                case .end: isClosed = true
                }
            } catch {
                // A packet that is too long has no number, so there is nothing to reply to.
                isClosed = true
            }
        }
    }

    /// Ends all observations.
    func end(_ engine: TransferEngine) {
        for entry in observers.values { engine.delivery.remove(entry.observer, from: entry.session) }
        observers = [:]
    }

    private func receive(_ packet: PacketSocket.Packet, for engine: TransferEngine) {
        if !hasGreeted, let (number, version) = TransferCommand.otherVersion(ofGreeting: packet.bytes) {
            let message = TransferCommand.mismatch(application: version) ?? ""
            return send(.failed(code: EideticError.Code.refused.description, message: message), number: number)
        }
        guard let received = try? WireReader.decode(NumberedMessage<TransferCommand>.self, from: packet.bytes),
            case let number = received.number, number != 0
        else { return isClosed = true }
        let command = received.message
        if case .hello(_, let name, let secret) = command {
            return greet(name: name, secret: secret, number: number, store: engine.store)
        }
        guard let application, hasGreeted else { return isClosed = true }
        switch command {
        case .observe(let session): observe(session, of: application, number: number, with: engine)
        case .endObservation(let session):
            if let entry = observers.removeValue(forKey: session) {
                engine.delivery.remove(entry.observer, from: entry.session)
            }
            send(.done, number: number)
        default:
            let files = packet.takeDescriptors().map { UploadFile(adopting: $0) }
            engine.perform(command, of: application, files: files) { [weak self] reply in
                self?.send(reply, number: number)
            }
        }
    }

    private func greet(name: String, secret: [UInt8], number: UInt32, store: TransferStore) {
        if !isIdentityFixed {
            guard !hasGreeted, (1...255).contains(name.utf8.count) else { return isClosed = true }
            guard store.application(named: name).admits(secret: secret) else { return refuse(name, number: number) }
            application = name
        } else if let application {
            // Without a supervisor the application is known by its secret.
            _ = store.application(named: application).admits(secret: secret)
        }
        hasGreeted = true
        send(.done, number: number)
    }

    private func refuse(_ name: String, number: UInt32) {
        let message =
            "the transfers of \"\(name)\" belong to a program with another secret; "
            + "it is in the directory \"identities\" beside that of the transfers"
        send(.failed(code: EideticError.Code.permissionDenied.description, message: message), number: number)
    }

    private func observe(_ name: String, of application: String, number: UInt32, with engine: TransferEngine) {
        do throws(EideticError) {
            let session = try engine.store.session(name, of: engine.store.application(named: application))
            if let entry = observers.removeValue(forKey: name) {
                engine.delivery.remove(entry.observer, from: entry.session)
            }
            let observer = EventDelivery.Observer { [weak self] notification in
                self?.send(.notification(notification, session: name), number: 0)
            } canReceive: { [weak self] in
                self.map { !$0.isClosed && $0.outgoing.count < Self.outgoingLimit } ?? false
            }
            observers[name] = (observer, session.number)
            send(.done, number: number)
            engine.delivery.add(observer, to: session)
        } catch {
            send(.failed(code: error.code.description, message: error.message), number: number)
        }
    }

    private func continueDelivery(_ engine: TransferEngine) {
        guard outgoing.isEmpty else { return }
        for entry in observers.values {
            guard let session = engine.store.sessions[entry.session] else { continue }
            engine.delivery.deliver(to: entry.observer, of: session)
        }
    }

    private func send(_ reply: TransferReply, number: UInt32) {
        outgoing.append(WireWriter.encode(NumberedMessage(number: number, message: reply)))
        flush()
    }

    private func flush() {
        while let packet = outgoing.first, !isClosed {
            do throws(SystemError) {
                guard try socket.send(packet) else { return }
            } catch {
                isClosed = true
            }
            outgoing.removeFirst()
        }
    }
}
