import EideticCore
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc
import Testing

/// A transfer server within this process, and the supervisor's end of its socket.
private final class SupervisedServer: Sendable {
    private let supervisor: PacketSocket
    private let sessions = Guarded<[String]>([])
    private let woken = Guarded<[Gate]>([])
    private let inbox = TransferInbox()

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - directory: The directory of the engine.
    ///   - bufferSize: The bytes of messages to the supervisor that wait.
    ///   - reads: A gate before which the supervisor does not read.
    /// - Throws: `SystemError`.
    init(directory: String, bufferSize: Int32? = nil, reads: Gate? = nil) throws {
        let ends = try PacketSocket.makePair()
        supervisor = ends.0
        let other = dup(ends.1.rawValue)
        if var bufferSize { setsockopt(other, SOL_SOCKET, SO_SNDBUF, &bufferSize, socklen_t(MemoryLayout<Int32>.size)) }
        let inbox = inbox
        Thread.start(name: "engine") {
            let server = TransferServer(listeners: [], supervisor: other, idleLimit: nil)
            if let engine = try? TransferEngine(TransferEngineConfiguration(directory: directory), inbox: inbox) {
                server.run(engine)
            }
        }
        Thread.start(name: "supervisor") { [weak self, supervisor] in
            reads?.block()
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

    func waitForWake() async { await waitForWakes(1) }

    func waitForWakes(_ count: Int) async {
        while case let gate = Gate(), wakes.count < count {
            woken.withLock { $0.append(gate) }
            if wakes.count < count { await gate.wait() }
        }
    }

    /// Tells the server that the last wake has failed.
    func failWake(of session: String) throws {
        _ = try supervisor.send(WireWriter.encode(TransferSupervision.wakeFailed(application: "a", session: session)))
    }

    /// Returns a gate that is opened when the engine has announced a number of further sessions.
    func announcements(_ count: Int) -> Gate {
        let gate = Gate(), announced = Guarded(0)
        inbox.post { engine in
            let send = engine.delivery.onWake
            engine.delivery.onWake = { application, session in
                send(application, session)
                let total = announced.withLock { announced in
                    announced += 1
                    return announced
                }
                if total == count { gate.open() }
            }
        }
        return gate
    }

    /// Connects an application.
    func connect(onEnd: @escaping @Sendable () -> Void = {}) throws -> TransferClient {
        let ends = try PacketSocket.makePair()
        _ = try supervisor.send(
            WireWriter.encode(TransferSupervision.connection(application: "a")),
            descriptors: [ends.1.rawValue]
        )
        return try TransferClient(socket: ends.0, application: "a", onEnd: onEnd)
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

    @Test("B14 wakes that the supervisor has no room for are sent as soon as it reads, without a message from it")
    func fullSocket() async throws {
        let directory = try TemporaryDirectory(), reads = Gate(), count = 40
        let origin = try ScriptedOrigin { _ in [.response(body: [1])] }
        let server = try SupervisedServer(directory: directory.path(of: "transfers"), bufferSize: 1, reads: reads)
        let client = try server.connect(), announced = server.announcements(count)
        for number in 0..<count {
            try await client.openSession(TransferSessionConfiguration(identifier: "s\(number)"))
            _ = try await client.add([TransferRequest(download: origin.url + "/a")], to: "s\(number)")
        }
        await announced.wait()
        reads.open()
        await server.waitForWakes(count)
        #expect(Set(server.wakes) == Set((0..<count).map { "s\($0)" }))
    }

    @Test("B14 a session whose application was not woken is announced again")
    func failedWake() async throws {
        let directory = try TemporaryDirectory()
        let origin = try ScriptedOrigin { _ in [.response(body: [1])] }
        let server = try SupervisedServer(directory: directory.path(of: "transfers"))
        let client = try server.connect()
        try await client.openSession(TransferSessionConfiguration(identifier: "s"))
        _ = try await client.add([TransferRequest(download: origin.url + "/a")], to: "s")
        await server.waitForWake()
        try server.failWake(of: "s")
        await server.waitForWakes(2)
        #expect(server.wakes == ["s", "s"])
    }

    @Test("B14 the pause before another wake is a second, doubles up to ten minutes, and ends with an acknowledgement")
    func pauses() async throws {
        let origin = try ScriptedOrigin { _ in [.response(body: [1])] }
        let wakes = Guarded(0), woken = Guarded(Gate())
        let engine = try SharedEngine(prepare: { engine in
            engine.delivery.onWake = { _, _ in
                wakes.withLock { $0 += 1 }
                woken.withLock { $0 }.open()
            }
        })
        await engine.perform(.openSession(TransferSessionConfiguration(identifier: "s")), of: "a")
        await engine.perform(.add([TransferRequest(download: origin.url + "/a")], session: "s"), of: "a")
        await woken.withLock { $0 }.wait()
        for (index, pause) in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600].enumerated() {
            await engine.call { $0.delivery.wakeFailed("s", of: "a") }
            // A second report of the same wake changes nothing.
            await engine.call { $0.delivery.wakeFailed("s", of: "a") }
            await engine.advance(by: .seconds(pause) - .nanoseconds(1))
            #expect(wakes.withLock { $0 } == index + 1)
            await engine.advance(by: .nanoseconds(1))
            #expect(wakes.withLock { $0 } == index + 2)
        }
        await engine.perform(.acknowledge([1]), of: "a")
        woken.withLock { $0 = Gate() }
        await engine.perform(.add([TransferRequest(download: origin.url + "/b")], session: "s"), of: "a")
        await woken.withLock { $0 }.wait()
        await engine.call { $0.delivery.wakeFailed("s", of: "a") }
        await engine.advance(by: .seconds(1))
        #expect(wakes.withLock { $0 } == 15)
    }

    @Test("B14 neither an unknown session nor one that was not announced is woken after a failed wake")
    func unknownWakes() async throws {
        let wakes = Guarded(0)
        let engine = try SharedEngine(prepare: { $0.delivery.onWake = { _, _ in wakes.withLock { $0 += 1 } } })
        await engine.perform(.openSession(TransferSessionConfiguration(identifier: "s")), of: "a")
        for (session, name) in [("s", "a"), ("t", "a"), ("s", "b")] {
            await engine.call { $0.delivery.wakeFailed(session, of: name) }
        }
        await engine.advance(by: .seconds(600))
        #expect(wakes.withLock { $0 } == 0)
    }

    @Test("B14 a connection ends although the handler of an observation holds that observation last")
    func selfHeldObservation() async throws {
        let directory = try TemporaryDirectory()
        let server = try SupervisedServer(directory: directory.path(of: "transfers"))
        let hasEnded = Gate()
        let client = try server.connect { hasEnded.open() }
        try await client.openSession(TransferSessionConfiguration(identifier: "s"))
        try await observeForEver(client)
        client.close()
        await hasEnded.wait()
        #expect(hasEnded.isOpen)
    }

    @Test("B14 a connection that has ended releases its socket, and the transfer process sees the end")
    func released() async throws {
        let (own, other) = try PacketSocket.makePair()
        var connection: TransferClient? = try TransferClient(socket: own, application: "a")
        weak let released = connection
        let isLost = Gate()
        connection?.onLoss { isLost.open() }
        connection?.close()
        await isLost.wait()
        connection = nil
        try await eventually("the connection is released") { released == nil }
        var reception = try other.receive()
        // The greeting, if it was sent before the close.
        if case .packet = reception { reception = try other.receive() }
        guard case .end = reception else {
            Issue.record("no end, but \(reception)")
            return
        }
    }

    /// Observes a session with a handler that alone keeps the observation.
    private func observeForEver(_ client: TransferClient) async throws {
        let holder = Guarded<TransferObservation?>(nil)
        let observation = try await client.observe("s") { _ in withExtendedLifetime(holder) {} }
        holder.withLock { $0 = observation }
    }
}
