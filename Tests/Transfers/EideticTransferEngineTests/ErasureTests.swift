import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc
import Testing

@Suite("erasure of the journal", .timeLimit(.minutes(1)))
struct ErasureTests {
    private static let secrets = ["pAtHsEcRet", "bOdYsEcRet", "cOoKiEsEcRet", "rEdIrEcTsEcRet", "nOtEsEcRet"]

    private func secrets(in fixture: ServiceFixture) throws -> [String] {
        let text = String(decoding: try fixture.directory.contents(of: "transfers/journal"), as: UTF8.self)
        return Self.secrets.filter(text.contains)
    }

    private func origin() throws -> ScriptedOrigin {
        try ScriptedOrigin { request in
            guard request.path.contains("rEdIrEcT") else {
                return [.response(302, headers: ["Location": "/b?signature=rEdIrEcTsEcRet"])]
            }
            return [.response(headers: ["Set-Cookie": "a=cOoKiEsEcRet"], body: Array("a bOdYsEcRet".utf8))]
        }
    }

    private func finish(_ fixture: ServiceFixture, _ origin: ScriptedOrigin) async throws -> TransferEvent {
        var request = TransferRequest(download: origin.url + "/a?key=pAtHsEcRet")
        request.note = Array("nOtEsEcRet".utf8)
        _ = try await fixture.add(request)
        return await fixture.log.waitForEvents(1)[0]
    }

    @Test("B14 cookies and signed URLs are erased from the journal when the event is acknowledged")
    func secretsAreErased() async throws {
        let (origin, fixture) = (try origin(), try await ServiceFixture())
        let event = try await finish(fixture, origin)
        // The body never stands there as it was sent.
        #expect(try secrets(in: fixture) == Self.secrets.filter { $0 != "bOdYsEcRet" })
        try await fixture.service.acknowledge([event.number])
        // The thread that erases has done so before it synchronises the next change.
        try await fixture.service.openSession(TransferSessionConfiguration(identifier: "t"))
        #expect(try secrets(in: fixture) == [])
        await fixture.close()
        let second = try await ServiceFixture(directory: fixture.directory)
        #expect(try await second.service.transfers(in: nil).isEmpty)
        let next = try await second.add(TransferRequest(download: "http://127.0.0.1:1/a"))
        #expect(next > event.transfer, "a number is used twice")
    }

    @Test(
        "B14 secrets that a kill after the acknowledgement leaves are erased at the next start",
        arguments: [1, 2, 3]
    )
    func erasuresAreFinished(_ writeCount: Int) async throws {
        let plan = FaultPlan(), origin = try origin()
        let fixture = try await ServiceFixture { $0.fileSystem = FileSystem(observer: plan) }
        let event = try await finish(fixture, origin)
        // The first write is that of the acknowledgement; marks and zeros follow.
        plan.fail(.pwrite, with: EIO, at: writeCount + 1, count: .max)
        try await fixture.service.acknowledge([event.number])
        await fixture.close()
        plan.removeAllRules()
        #expect(try !secrets(in: fixture).isEmpty)
        let second = try await ServiceFixture(directory: fixture.directory)
        #expect(try secrets(in: second) == [])
        #expect(try await second.service.transfers(in: nil).isEmpty)
        #expect(second.log.events.isEmpty)
    }

    @Test("B14 the file that a compaction replaces is erased, with the secrets of transfers that go on")
    func replacedJournalIsErased() async throws {
        let fixture = try await ServiceFixture()
        let path = fixture.directory.path(of: "transfers/journal"), files = FileSystem()
        var secret = TransferRequest(download: "http://127.0.0.1:1/a")
        secret.headers = ["Authorization": "pAtHsEcRet"]
        _ = try await fixture.add(secret)
        let earlier = try files.open(path, flags: O_RDONLY), inode = try files.status(of: path).inode
        var large = TransferRequest(download: "http://127.0.0.1:1/b")
        large.note = [UInt8](repeating: 1, count: 4_000)
        for _ in 0..<30 {
            let transfers = try await fixture.service.add([TransferRequest](repeating: large, count: 10), to: "s")
            try await fixture.service.cancel(transfers, keepsResumeData: false)
        }
        let events = await fixture.log.waitForEvents(300)
        try await fixture.service.acknowledge(events.map(\.number))
        try await fixture.service.openSession(TransferSessionConfiguration(identifier: "t"))
        #expect(try files.status(of: path).inode != inode)
        // The engine ends after the thread that erases.
        await fixture.close()
        #expect(try secrets(in: fixture) == ["pAtHsEcRet"])
        var bytes = [UInt8](repeating: 1, count: try files.size(of: earlier))
        try #require(pread(earlier.rawValue, &bytes, bytes.count, 0) == bytes.count)
        #expect(bytes.count > 1_000_000 && bytes.allSatisfy { $0 == 0 })
        #expect(throws: SystemError.self) { try files.status(of: path + ".old") }
    }

    @Test("B14 copies that a kill during a compaction leaves are erased at the next start", arguments: ["new", "old"])
    func leftCopiesAreErased(_ name: String) async throws {
        let fixture = try await ServiceFixture(), files = FileSystem()
        await fixture.close()
        let copy = fixture.directory.path(of: "transfers/journal.\(name)")
        try fixture.directory.write(Array("a pAtHsEcRet".utf8), to: "transfers/journal.\(name)")
        try files.link(copy, to: fixture.directory.path(of: "evidence"))
        let second = try await ServiceFixture(directory: fixture.directory)
        #expect(try fixture.directory.contents(of: "evidence").allSatisfy { $0 == 0 })
        #expect(throws: SystemError.self) { try files.status(of: copy) }
        await second.close()
    }

    @Test("B14 a second name of the journal, which a kill before the replacement leaves, is removed and not erased")
    func secondNameIsRemoved() async throws {
        let fixture = try await ServiceFixture(), files = FileSystem()
        let transfer = try await fixture.add(TransferRequest(download: "http://127.0.0.1:1/a"))
        await fixture.close()
        let path = fixture.directory.path(of: "transfers/journal")
        try files.link(path, to: path + ".old")
        let second = try await ServiceFixture(directory: fixture.directory)
        #expect(try await second.service.transfers(in: nil).map(\.identifier) == [transfer])
        #expect(throws: SystemError.self) { try files.status(of: path + ".old") }
    }

    @Test("B14 the records of a removed session are erased")
    func removedSessionsAreErased() async throws {
        let (origin, fixture) = (try origin(), try await ServiceFixture())
        _ = try await finish(fixture, origin)
        try await fixture.service.removeSession("s")
        try await fixture.service.openSession(TransferSessionConfiguration(identifier: "t"))
        #expect(try secrets(in: fixture) == [])
    }

    @Test("B14 an earlier response of a download is erased with it")
    func replacedResponsesAreErased() async throws {
        let body = Body.bytes(200_000), count = Counter()
        let origin = try ScriptedOrigin { _ in
            let number = count.next()
            let head = "HTTP/1.1 200 OK\r\nSet-Cookie: a=cOoKiEsEcRet\r\nETag: \"\(number)\"\r\n"
            let lines = head + "Content-Length: 200000\r\n\r\n"
            return [.send(Array(lines.utf8) + body[..<(number > 0 ? 200_000 : 100_000)]), .close]
        }
        let fixture = try await ServiceFixture()
        _ = try await fixture.add(TransferRequest(download: origin.url + "/a"))
        let event = await fixture.log.waitForEvents(1)[0]
        try await fixture.service.acknowledge([event.number])
        try await fixture.service.openSession(TransferSessionConfiguration(identifier: "t"))
        #expect(try secrets(in: fixture) == [])
        #expect(origin.requests.count == 2)
    }

    @Test("B14 events that are not acknowledged survive the erasure of others")
    func othersSurvive() async throws {
        let origin = try ScriptedOrigin { request in [.response(body: Array(request.path.utf8))] }
        let fixture = try await ServiceFixture()
        for number in 0..<20 { _ = try await fixture.add(TransferRequest(download: "\(origin.url)/\(number)")) }
        let events = await fixture.log.waitForEvents(20)
        let acknowledged = events.enumerated().filter { $0.offset % 3 != 0 }.map(\.element.number)
        try await fixture.service.acknowledge(acknowledged)
        await fixture.close()
        let second = try await ServiceFixture(directory: fixture.directory)
        let rest = await second.log.waitForEvents(7)
        #expect(Set(rest.map(\.number)) == Set(events.map(\.number)).subtracting(acknowledged))
        for event in rest {
            #expect(try second.finished(event).bytes == Array(event.url.dropFirst(origin.url.count).utf8))
        }
    }
}
