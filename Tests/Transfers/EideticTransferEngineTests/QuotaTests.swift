import EideticCore
import EideticFetch
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Testing

/// The limits of an application, each one below, at and one above.
@Suite("quotas", .timeLimit(.minutes(5)))
struct QuotaTests {
    private let never = Gate()

    /// Adds downloads of a server that does not respond, in the order of their notes.
    private func add(_ range: Range<Int>, to fixture: ServiceFixture, from origin: ScriptedOrigin) async throws {
        for start in stride(from: range.lowerBound, to: range.upperBound, by: 500) {
            let part = start..<min(start + 500, range.upperBound)
            _ = try await fixture.service.add(
                part.map { TransferRequest(download: "\(origin.url)/\($0)") },
                to: "s"
            )
        }
    }

    @Test("B14 an application has 9,999 and 10,000 transfers, not 10,001, and another one when one is acknowledged")
    func transferCount() async throws {
        let origin = try ScriptedOrigin { [never] request in
            request.path == "/0" ? [.response(body: [1])] : [.wait(never)]
        }
        let fixture = try await ServiceFixture()
        let limit = TransferLimits.transferCount
        #expect(limit == 10_000)
        try await add(0..<limit - 1, to: fixture, from: origin)
        #expect(try await fixture.service.transfers(in: nil).count == limit - 1)
        try await add(limit - 1..<limit, to: fixture, from: origin)
        let error = await #expect(throws: EideticError.self) {
            try await add(limit..<limit + 1, to: fixture, from: origin)
        }
        #expect(error?.code == .limitExceeded, "\(String(describing: error))")
        // One that has ended counts until its event is acknowledged.
        let event = await fixture.log.waitForEvents(1)[0]
        await #expect(throws: EideticError.self) { try await add(limit..<limit + 1, to: fixture, from: origin) }
        try await fixture.service.acknowledge([event.number])
        try await add(limit..<limit + 1, to: fixture, from: origin)
        #expect(try await fixture.service.transfers(in: nil).count == limit)
        await fixture.close()
    }

    @Test("B14 an addition that would exceed the limit adds none of its transfers")
    func wholeAdditions() async throws {
        let origin = try ScriptedOrigin { [never] _ in [.wait(never)] }
        let fixture = try await ServiceFixture()
        try await add(0..<TransferLimits.transferCount - 1, to: fixture, from: origin)
        let last = TransferLimits.transferCount
        await #expect(throws: EideticError.self) { try await add(last - 1..<last + 1, to: fixture, from: origin) }
        #expect(try await fixture.service.transfers(in: nil).count == last - 1)
        await fixture.close()
    }

    @Test("B14 the 10,000 transfers are there after a restart, and the limit holds")
    func afterRestart() async throws {
        let origin = try ScriptedOrigin { [never] _ in [.wait(never)] }
        let directory = try TemporaryDirectory()
        let first = try await ServiceFixture(directory: directory)
        try await add(0..<TransferLimits.transferCount, to: first, from: origin)
        await first.close()
        let second = try await ServiceFixture(directory: directory)
        #expect(try await second.service.transfers(in: nil).count == TransferLimits.transferCount)
        await #expect(throws: EideticError.self) { try await add(0..<1, to: second, from: origin) }
        await second.close()
    }

    @Test("B14 an application has 63 and 64 sessions, not 65; opening one of them again is none more")
    func sessionCount() async throws {
        let fixture = try await ServiceFixture()
        let limit = TransferLimits.sessionCount
        for number in 1..<limit {
            try await fixture.service.openSession(TransferSessionConfiguration(identifier: "n\(number)"))
        }
        await #expect(throws: EideticError.self) {
            try await fixture.service.openSession(TransferSessionConfiguration(identifier: "n\(limit)"))
        }
        try await fixture.service.openSession(TransferSessionConfiguration(identifier: "n1"))
        try await fixture.service.removeSession("n1")
        try await fixture.service.openSession(TransferSessionConfiguration(identifier: "n\(limit)"))
    }

    @Test(
        "B14 the files of an application have a limit of bytes: one below and at it are kept, one above waits",
        arguments: [(99_999, true), (100_000, true), (100_001, false)]
    )
    func diskQuota(size: Int, isKept: Bool) async throws {
        let origin = try ScriptedOrigin { _ in [.response(body: Body.bytes(size))] }
        let fixture = try await ServiceFixture { $0.diskLimit = 100_000 }
        let transfer = try await fixture.add(TransferRequest(download: origin.url + "/a"))
        if isKept {
            _ = try fixture.finished(await fixture.log.waitForEvents(1)[0])
        } else {
            // Another attempt follows: an event may have been acknowledged.
            await origin.waitForRequests(count: 2)
            let status = try await fixture.service.transfers(in: "s").first { $0.identifier == transfer }
            #expect(status?.lastError.isEmpty == false)
            #expect(fixture.log.events.isEmpty)
        }
        await fixture.close()
    }
}
