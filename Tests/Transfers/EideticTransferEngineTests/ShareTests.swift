import EideticCore
import EideticTestSupport
import EideticTransfer
@testable import EideticTransferEngine
import Testing

@Suite("connections that applications share", .timeLimit(.minutes(1)))
struct ShareTests {
    private let body = Body.bytes(40_000)

    /// An origin that sends a part of the body, and the rest, or a range of it, after the gate.
    private func slowOrigin(_ gate: Gate) throws -> ScriptedOrigin {
        let body = body
        return try ScriptedOrigin { request in
            guard request.rangeStart == nil else { return [.ranged(request, body: body, tag: "\"1\"")] }
            let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: \(body.count)\r\n\r\n"
            return [.send(Array(head.utf8) + body[..<10_000]), .wait(gate), .send(Array(body[10_000...]))]
        }
    }

    /// Waits until transfers of an application have the part that the origin sends before the gate.
    ///
    /// Not for reports of progress: one of no bytes may come first, and the next one a quarter of a second later, by a
    /// clock that the test advances.
    private func waitForParts(_ count: Int, of application: String, in engine: SharedEngine) async throws {
        try await eventually("transfers of \(application) with a part", is: count) {
            await engine.call { engine in
                engine.running.values.count { $0.application.name == application && $0.progress.completed == 10_000 }
            }
        }
    }

    @Test("B14 slow transfers of one application give way to those of another one, and are continued later")
    func slowTransfersGiveWay() async throws {
        let gate = Gate(), body = body
        let slow = try [6, 6, 4].map { (origin: try slowOrigin(gate), count: $0) }
        let other = try ScriptedOrigin { _ in [.response(body: body)] }
        let engine = try SharedEngine()
        let urls = slow.flatMap { entry in (0..<entry.count).map { "\(entry.origin.url)/\($0)" } }
        let first = await engine.download(urls, as: "first")
        try await waitForParts(16, of: "first", in: engine)
        let second = await engine.download(["\(other.url)/a"], as: "second")
        #expect(await engine.transfers(of: "second").first?.reasons.map(\.code) == [.connectionLimit])
        await engine.advance(by: .seconds(9))
        #expect(await engine.transfers(of: "second").first?.state == .waiting)
        await engine.advance(by: .seconds(2))
        await second.waitForEvents(1)
        gate.open()
        let files = await first.waitForEvents(16).compactMap { event -> [UInt8]? in
            guard case .finished(let response) = event.outcome else { return nil }
            return try? FileSystem().contents(of: response.path)
        }
        #expect(files.count == 16 && files.allSatisfy { $0 == body })
        let continued = slow.flatMap(\.origin.requests).filter { $0.rangeStart == 10_000 }
        #expect(continued.count == 1)
    }

    @Test("B14 slow transfers to one host give way to those of another application to this host")
    func hostsAreShared() async throws {
        let gate = Gate()
        let origin = try slowOrigin(gate), engine = try SharedEngine()
        let first = await engine.download((0..<8).map { "\(origin.url)/\($0)" }, as: "first")
        try await waitForParts(6, of: "first", in: engine)
        let second = await engine.download((0..<8).map { "\(origin.url)/\($0)" }, as: "second")
        #expect(await engine.transfers(of: "second").first?.reasons.map(\.code) == [.hostLimit])
        for _ in 0..<3 { await engine.advance(by: .seconds(11)) }
        try await waitForParts(3, of: "second", in: engine)
        let states = await engine.transfers(of: "first").map(\.state)
        #expect(states.count { $0 == .running } == 3)
        let yielded = await engine.transfers(of: "first").filter { $0.completedBytes > 0 && $0.state == .waiting }
        #expect(yielded.count == 3 && yielded.allSatisfy { $0.reasons.map(\.code) == [.queue] })
        gate.open()
        await first.waitForEvents(8)
        await second.waitForEvents(8)
    }

    @Test("B14 one application alone uses all connections, and nothing gives way if nothing waits")
    func aloneAllConnectionsAreUsed() async throws {
        let gate = Gate()
        let origins = try [6, 6, 4].map { (origin: try slowOrigin(gate), count: $0) }
        let engine = try SharedEngine()
        let urls = origins.flatMap { entry in (0..<entry.count).map { "\(entry.origin.url)/\($0)" } }
        let log = await engine.download(urls, as: "first")
        try await waitForParts(16, of: "first", in: engine)
        for _ in 0..<4 { await engine.advance(by: .seconds(60)) }
        #expect(await engine.transfers(of: "first").count { $0.state == .running } == 16)
        gate.open()
        await log.waitForEvents(16)
        #expect(origins.flatMap(\.origin.requests).count == 16)
    }

    @Test("B14 sixteen slow transfers of an application do not hold up its own others, and are continued after them")
    func ownTransfersGiveWay() async throws {
        let gate = Gate(), body = body
        let slow = try [6, 6, 4].map { (origin: try slowOrigin(gate), count: $0) }
        let fast = try ScriptedOrigin { _ in [.response(body: body)] }
        let engine = try SharedEngine()
        let urls = slow.flatMap { entry in (0..<entry.count).map { "\(entry.origin.url)/\($0)" } }
        let log = await engine.download(urls, as: "first")
        try await waitForParts(16, of: "first", in: engine)
        let added = (0..<3).map { TransferRequest(download: "\(fast.url)/\($0)") }
        await engine.perform(.add(added, session: "s"), of: "first")
        await engine.advance(by: .seconds(9))
        #expect(fast.requests.isEmpty)
        await engine.advance(by: .seconds(2))
        // The connection of the first that gave way serves all three.
        await log.waitForEvents(3)
        #expect(slow.flatMap(\.origin.requests).count { $0.rangeStart == 10_000 } <= 1)
        gate.open()
        #expect(await log.waitForEvents(19).count == 19)
        #expect(slow.flatMap(\.origin.requests).count { $0.rangeStart == 10_000 } == 1)
    }

    @Test("B14 with more applications than connections, transfers that can be continued take turns of a minute")
    func turnsAreTaken() {
        var queue = TransferQueue()
        for application in 0..<17 {
            queue.insert(
                UInt64(application),
                on: .init(application: application, host: UInt32(application)),
                priority: 0,
                remaining: 0
            )
        }
        var running: [TransferQueue.Connection] = []
        while let next = queue.popNext(isReady: { _ in true }) { running.append(next.connection) }
        let shortages = queue.shortages { _ in true }
        #expect(running.count == 16 && shortages.count == 1)
        let waiting = shortages.first.map { queue.lead(of: running[0].application, in: $0) }
        #expect(waiting == 1)
    }

    @Test("B14 an application below its share starts before one with its share", arguments: [7, 8, 9])
    func sharesComeFirst(_ count: Int) {
        var queue = TransferQueue()
        for number in 0..<16 {
            queue.insert(
                UInt64(number),
                on: .init(application: 0, host: UInt32(number)),
                priority: 0,
                remaining: 1 << 20
            )
        }
        for _ in 0..<count { _ = queue.popNext { _ in true } }
        for number in 100..<116 {
            queue.insert(
                UInt64(number),
                on: .init(application: 1, host: UInt32(number)),
                priority: 0,
                remaining: 64 << 20
            )
        }
        var started: [Int] = []
        while let next = queue.popNext(isReady: { _ in true }) { started.append(next.connection.application) }
        #expect(started.count { $0 == 1 } == min(8, 16 - count))
    }
}
