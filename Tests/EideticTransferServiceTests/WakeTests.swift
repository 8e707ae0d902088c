import EideticCore
import EideticTestSupport
import EideticTransfer
import EideticWire
import Glibc
import Testing

/// A transfer server within this process, and the supervisor's end of its socket.
private final class SupervisedServer: Sendable {
    private let supervisor: PacketSocket
    private let sessions = Guarded<[String]>([])
    private let woken = Guarded<[Gate]>([])
    private let inbox = EngineInbox()

    init(directory: String) throws {
        let ends = try PacketSocket.makePair()
        supervisor = ends.0
        let other = dup(ends.1.rawValue)
        let inbox = inbox
        Thread.start(name: "engine") {
            let server = TransferServer(listeners: [], supervisor: other, idleLimit: nil)
            if let engine = try? TransferEngine(TransferEngineConfiguration(directory: directory), inbox: inbox) {
                server.run(engine)
            }
        }
        Thread.start(name: "supervisor") { [weak self, supervisor] in
            var descriptor = pollfd(fd: supervisor.rawValue, events: Int16(POLLIN), revents: 0)
            while poll(&descriptor, 1, -1) > 0, case .packet(let packet)? = try? supervisor.receive() {
                guard case .wake(_, let session)? = try? WireReader.decode(TransferSupervision.self, from: packet.bytes)
                else { continue }
                self?.record(session)
            }
        }
    }

    deinit { inbox.post { $0.stop() } }

    private func record(_ session: String) {
        sessions.withLock { $0.append(session) }
        for gate in woken.withLock({ $0 }) { gate.open() }
    }

    /// The sessions whose application was to be launched.
    var wakes: [String] { sessions.withLock { $0 } }

    func waitForWake() async {
        let gate = Gate()
        woken.withLock { $0.append(gate) }
        if wakes.isEmpty { await gate.wait() }
    }

    /// Connects an application.
    func connect() throws -> TransferClient {
        let ends = try PacketSocket.makePair()
        _ = try supervisor.send(
            WireWriter.encode(TransferSupervision.connection(application: "a")),
            descriptors: [ends.1.rawValue]
        )
        return try TransferClient(socket: ends.0, application: "a") {}
    }
}

@Suite("wakes of applications", .timeLimit(.minutes(1)))
struct WakeTests {
    @Test("B14 an application that ends before it has handled its last event is launched again")
    func unhandledEventsLaunch() async throws {
        let directory = try TemporaryDirectory()
        let origin = try ScriptedOrigin { _ in [.response(body: [1])] }
        let server = try SupervisedServer(directory: directory.path(of: "transfers"))
        let log = EventLog()
        var client: TransferClient? = try server.connect()
        try await client?.openSession(TransferSessionConfiguration(identifier: "s"))
        let observation = try await client?.observe("s") { log.record($0) }
        _ = try await client?.add([TransferRequest(download: origin.url + "/a")], to: "s")
        await log.waitForEvents(1)
        #expect(server.wakes.isEmpty)
        // The socket is closed with the last reference.
        client?.close()
        client = nil
        await server.waitForWake()
        #expect(server.wakes == ["s"])
        withExtendedLifetime(observation) {}
    }

    @Test("B14 a session that asks for launches after it has finished launches its application")
    func laterRequestsLaunch() async throws {
        let directory = try TemporaryDirectory(), holds = Gate()
        let origin = try ScriptedOrigin { _ in [.wait(holds), .response(body: [1])] }
        let server = try SupervisedServer(directory: directory.path(of: "transfers"))
        let log = EventLog()
        var client: TransferClient? = try server.connect()
        var session = TransferSessionConfiguration(identifier: "s")
        session.sendsLaunchEvents = false
        try await client?.openSession(session)
        _ = try await client?.add([TransferRequest(download: origin.url + "/a")], to: "s")
        let observation = try await client?.observe("s") { log.record($0) }
        holds.open()
        await log.waitForEvents(1)
        // The socket is closed with the last reference.
        client?.close()
        client = nil
        let second = try server.connect()
        #expect(try await second.transfers(in: "s").map(\.state) == [.finished])
        #expect(server.wakes.isEmpty)
        session.sendsLaunchEvents = true
        try await second.openSession(session)
        await server.waitForWake()
        #expect(server.wakes == ["s"])
        withExtendedLifetime(observation) {}
    }
}
