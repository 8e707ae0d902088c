import EideticCore
import EideticSupervision
import Glibc
import EideticLifecycle

// Connections by name: of `eidetic app`, and of applications that do not inherit a socket.
extension Supervisor {
    /// The time in which an application says who it is.
    private static let introductionLimit: Duration = .seconds(5)
    /// The time for which a connection of `eidetic app` may be idle.
    private static let idleLimit: Duration = .seconds(10)
    /// The greatest number of connections of each kind, and of one process.
    private static let guestLimit = 128
    private static let guestLimitOfProcess = 16

    /// Admits root and the user of the supervisor only.
    func admit(_ socket: PacketSocket, isControl: Bool) {
        guard let peer = socket.peer, peer.user == geteuid() || peer.user == 0 else {
            return context.log.append("refused a connection of user \(socket.peer?.user ?? .max)", for: "eideticd")
        }
        makeRoom(for: peer.process, isControl: isControl)
        let limiter = isControl ? MessageLimiter(rate: 1_000) : context.limiter(of: peer.process)
        // Connecting costs as much as a message, or it would be a way around the limit.
        guard limiter.take() else { return }
        let connection = Connection(socket: socket, poller: poller, limiter: limiter)
        let key = ObjectIdentifier(connection)
        guests[key] = Guest(
            connection: connection,
            isControl: isControl,
            process: peer.process,
            deadline: poller.alarm { [unowned connection] in connection.fail() }
        )
        guests[key]?.deadline.time = Clock.now + (isControl ? Self.idleLimit : Self.introductionLimit)
        connection.end = { [unowned self] in self.guests[key] = nil }
        connection.receive = { [unowned self, unowned connection] packet in
            if isControl {
                self.guests[key]?.deadline.time = Clock.now + Self.idleLimit
                self.answer(packet.bytes, on: connection)
            } else {
                self.introduce(connection, packet: packet.bytes)
            }
        }
        connection.start()
    }

    /// Closes the connection that has been idle for longest, of the same process if it has many.
    private func makeRoom(for process: Int32, isControl: Bool) {
        let similar = guests.values.filter { $0.isControl == isControl }
        let own = similar.filter { $0.process == process }
        let candidates = own.count >= Self.guestLimitOfProcess ? own : similar.count >= Self.guestLimit ? similar : []
        candidates.min { $0.deadline.time ?? .zero < $1.deadline.time ?? .zero }?.connection.fail()
    }

    /// Connects an application, by the first message and by the process that the kernel names.
    private func introduce(_ connection: Connection, packet: [UInt8]) {
        if let refusal = connection.refuseOtherVersion(ofGreeting: packet) {
            context.log.append("process \(connection.socket.peer?.process ?? 0): \(refusal)", for: "eideticd")
            return connection.fail()
        }
        guard let message = try? WireReader.decode(ApplicationMessage.self, from: packet),
            case .hello(let hello) = message,
            let peer = connection.socket.peer, let handle = ProcessHandle(identifier: peer.process)
        else { return connection.fail() }
        guests[ObjectIdentifier(connection)] = nil
        if let application = application(of: handle), let process = application.process {
            if let running = hello.running, running.token != process.page.token {
                application.log("refused a connection with a wrong token")
                return connection.close()
            }
            application.processes.attach(connection, to: process)
        } else if !adopt(handle, hello: hello, connection: connection) {
            return
        }
        connection.receive(PacketSocket.Packet(packet))
    }

    private func application(of handle: ProcessHandle) -> SupervisedApplication? {
        applications.values.first { application in
            application.process?.handle.identifier == handle.identifier
                && application.process?.handle.startTime == handle.startTime
        }
    }

    /// Takes an application under supervision that somebody else has started; returns `false` if it is refused.
    private func adopt(_ handle: ProcessHandle, hello: Hello, connection: Connection) -> Bool {
        let identifier = identifier(of: handle, hello: hello)
        guard applications[identifier] != nil || makeRoomForApplication() else {
            connection.send(WireWriter.encode(SupervisorMessage.refused(.tooManyRequests)))
            connection.close()
            return false
        }
        let application = application(named: identifier)
        guard application.process == nil else {
            connection.send(WireWriter.encode(SupervisorMessage.refused(.alreadyRunning)))
            connection.close()
            return false
        }
        do throws(SystemError) {
            try application.connect(handle, connection: connection, hello: hello)
            return true
        } catch {
            application.log("cannot supervise process \(handle.identifier): \(error)")
            connection.close()
            return false
        }
    }

    /// The identifier that the application asks for; another one if its program is not the known one of that
    /// identifier.
    private func identifier(of handle: ProcessHandle, hello: Hello) -> String {
        let path = (try? FileSystem().linkTarget(of: "/proc/\(handle.identifier)/exe")) ?? "unknown"
        let name = path.split(separator: "/").last.map(String.init) ?? "unknown"
        let adhoc = String("adhoc.\(name.filter { ApplicationIdentifier.isValid("a\($0)") })".prefix(128))
        guard let asked = hello.identifier, ApplicationIdentifier.isValid(asked) else { return adhoc }
        // By their paths alone: the file system of the known one may hang.
        let known = applications[asked]?.program.installed ?? context.manifests.manifest(of: asked).manifest?.program
        return known.map { $0.executable == path } ?? true ? asked : adhoc
    }
}

extension Connection {
    /// Tells an application with another version of the messages which one this supervisor speaks.
    ///
    /// - Returns: The reason, for the log; `nil` if the first message has this version.
    func refuseOtherVersion(ofGreeting bytes: [UInt8]) -> String? {
        guard let version = SupervisionProtocol.otherVersion(ofGreeting: bytes) else { return nil }
        let token = [UInt8](repeating: 0, count: SupervisionProtocol.tokenLength)
        send(WireWriter.encode(SupervisorMessage.welcome(Welcome(generation: 0, token: token))))
        let own = SupervisionProtocol.version
        return "not supervised: " + (SupervisionProtocol.mismatch(application: version, supervisor: own) ?? "")
    }
}
