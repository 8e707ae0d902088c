import EideticCore
import EideticFetch
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc
import Testing

/// The end of a transfer process that has nothing to do, with a clock of the test's.
@Suite("idle exit", .timeLimit(.minutes(1)))
struct IdleExitTests {
    private let directory: TemporaryDirectory
    private let clock = ManualTime()

    init() throws { directory = try TemporaryDirectory(named: "idle") }

    /// Creates an engine and its server, which the test drives.
    private func makeServer(releaseCode: @escaping () -> Void = {}) throws -> (
        engine: TransferEngine, server: TransferServer
    ) {
        var configuration = TransferEngineConfiguration(directory: directory.path(of: "transfers"))
        configuration.time = clock
        let engine = try TransferEngine(configuration, inbox: TransferInbox())
        let listener = try PacketSocket.listen(at: directory.path(of: "socket"))
        let server = TransferServer(
            listeners: [dup(listener.rawValue)],
            supervisor: nil,
            idleLimit: .seconds(600),
            time: clock,
            releaseCode: releaseCode
        )
        return (engine, server)
    }

    private func turn(_ engine: TransferEngine, _ server: TransferServer) {
        var descriptors = server.descriptors
        let count = nfds_t(descriptors.count)
        var polled = descriptors.map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
        poll(&polled, count, 0)
        for index in polled.indices where polled[index].revents != 0 {
            descriptors[index].returnedEvents = PollDescriptor.readable
        }
        server.handle(descriptors, for: engine)
    }

    @Test("B14 the transfer process ends ten minutes after the last connection and transfer, and not before")
    func ends() throws {
        let (engine, server) = try makeServer()
        turn(engine, server)
        clock.advance(by: .seconds(600) - .nanoseconds(1))
        turn(engine, server)
        #expect(!engine.isStopping)
        clock.advance(by: .nanoseconds(1))
        turn(engine, server)
        #expect(engine.isStopping)
    }

    @Test("B14 code is given back to the system once, a second after the last message")
    func code() throws {
        var releases = 0
        let (engine, server) = try makeServer { releases += 1 }
        turn(engine, server)
        clock.advance(by: .seconds(2))
        turn(engine, server)
        #expect(releases == 0)
        let client = try PacketSocket.connect(to: directory.path(of: "socket"))
        turn(engine, server)
        clock.advance(by: .seconds(1) - .nanoseconds(1))
        turn(engine, server)
        #expect(releases == 0)
        clock.advance(by: .nanoseconds(1))
        #expect(server.nextDeadline == clock.uptime)
        for _ in 0..<3 {
            turn(engine, server)
            clock.advance(by: .seconds(1))
        }
        #expect(releases == 1)
        withExtendedLifetime(client) {}
    }

    @Test("B14 a connection begins the time before an idle exit again")
    func connectionsCount() throws {
        let (engine, server) = try makeServer()
        turn(engine, server)
        clock.advance(by: .seconds(599))
        do {
            let client = try PacketSocket.connect(to: directory.path(of: "socket"))
            turn(engine, server)
            clock.advance(by: .seconds(601))
            turn(engine, server)
            #expect(!engine.isStopping)
            withExtendedLifetime(client) {}
        }
        // The end of the connection is read, and the time begins.
        turn(engine, server)
        clock.advance(by: .seconds(599))
        turn(engine, server)
        #expect(!engine.isStopping)
        clock.advance(by: .seconds(1))
        turn(engine, server)
        #expect(engine.isStopping)
    }
}
