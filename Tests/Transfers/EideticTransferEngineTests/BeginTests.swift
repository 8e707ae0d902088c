import EideticCore
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Testing

@Suite("times and connections that applications ask for", .timeLimit(.minutes(1)))
struct BeginTests {
    @Test("B14 a transfer begins at its earliest date, not before, and says so", arguments: [false, true])
    func earliestDatesAreKept(_ restarts: Bool) async throws {
        let origin = try ScriptedOrigin { _ in [.response(body: [1])] }
        let directory = try TemporaryDirectory()
        var engine: SharedEngine? = try SharedEngine(directory: directory)
        var log = await engine?.download([], as: "a")
        var request = TransferRequest(download: origin.url + "/a")
        request.earliestBegin = try #require(engine?.time.now) + .seconds(3_600)
        await engine?.perform(.add([request], session: "s"), of: "a")
        if restarts {
            await engine?.stop()
            engine = nil
            engine = try SharedEngine(directory: directory)
            log = await engine?.download([], as: "a")
        }
        let running = try #require(engine)
        await running.advance(by: .seconds(3_599))
        let status = try #require(await running.transfers(of: "a").first)
        #expect(status.state == .waiting && status.reasons.map(\.code) == [.earliestBegin])
        #expect(status.reasons.first?.text.contains("1 s") == true && status.nextAttempt == request.earliestBegin)
        #expect(origin.requests.isEmpty)
        await running.advance(by: .seconds(1))
        await log?.waitForEvents(1)
    }

    @Test("B14 a clock that is set beyond the earliest date lets the transfer begin within ten minutes")
    func clocksMayJump() async throws {
        let origin = try ScriptedOrigin { _ in [.response(body: [1])] }
        let engine = try SharedEngine()
        let log = await engine.download([], as: "a")
        var request = TransferRequest(download: origin.url + "/a")
        request.earliestBegin = engine.time.now + .seconds(86_400)
        await engine.perform(.add([request], session: "s"), of: "a")
        engine.time.set(now: engine.time.now + .seconds(90_000))
        await engine.advance(by: .seconds(600))
        await log.waitForEvents(1)
    }

    @Test("B14 the time before the earliest date does not count as that of the transfer")
    func deadlinesCountFromTheDate() async throws {
        let engine = try SharedEngine()
        var session = TransferSessionConfiguration(identifier: "s")
        session.resourceTimeout = .seconds(100)
        await engine.perform(.openSession(session), of: "a")
        var request = TransferRequest(download: "http://127.0.0.1:1/a")
        request.earliestBegin = engine.time.now + .seconds(1_000)
        await engine.perform(.add([request], session: "s"), of: "a")
        await engine.advance(by: .seconds(999))
        #expect(await engine.transfers(of: "a").map(\.state) == [.waiting])
        await engine.advance(by: .seconds(101))
        #expect(await engine.transfers(of: "a").map(\.state) == [.failed])
    }

    @Test("B14 a session has as many connections to a host as it allows", arguments: [1, 5, 6, 7])
    func sessionsLimitConnections(_ limit: Int) async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { _ in [.wait(gate), .response(body: [1])] }
        let engine = try SharedEngine()
        var session = TransferSessionConfiguration(identifier: "s")
        session.connectionsPerHost = limit
        await engine.perform(.openSession(session), of: "a")
        let log = EventLog()
        await engine.call { $0.delivery.observe("s", of: "a", handler: log.record) }
        await engine.perform(
            .add((0..<8).map { TransferRequest(download: "\(origin.url)/\($0)") }, session: "s"),
            of: "a"
        )
        let transfers = await engine.transfers(of: "a")
        #expect(transfers.count { $0.state == .running } == min(limit, 6))
        let waiting = try #require(transfers.first { $0.state == .waiting })
        #expect(waiting.reasons.map(\.code) == [.hostLimit])
        #expect(waiting.reasons.first?.text.contains("of its session") == (limit < 6))
        // Another session of the application is not held up.
        let other = await engine.perform(.openSession(TransferSessionConfiguration(identifier: "t")), of: "a")
        #expect(other == .done)
        await engine.perform(.add([TransferRequest(download: "\(origin.url)/t")], session: "t"), of: "a")
        let isRunning = await engine.transfers(of: "a").first { $0.session == "t" }?.state == .running
        #expect(isRunning == (limit < 6))
        gate.open()
        await log.waitForEvents(8)
    }

    @Test("B14 a session needs a connection", arguments: [0, 1])
    func sessionsNeedConnections(_ limit: Int) async throws {
        let engine = try SharedEngine()
        var session = TransferSessionConfiguration(identifier: "s")
        session.connectionsPerHost = limit
        let reply = await engine.perform(.openSession(session), of: "a")
        #expect((reply == .done) == (limit > 0))
    }
}
