import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc
import Testing

@Suite("kills and failures of the disk", .timeLimit(.minutes(1)))
struct RecoveryTests {
    /// Copies the directory of the service as a kill at this moment would leave it.
    private func copy(_ fixture: ServiceFixture) async throws -> TemporaryDirectory {
        let copy = try TemporaryDirectory()
        let source = fixture.directory.path(of: "transfers")
        _ = try await Subprocess.run("/bin/cp", arguments: ["-a", source, copy.path])
        return copy
    }

    @Test(
        "B14 a complete file is not fetched again after a kill before its end was recorded",
        arguments: [true, false]
    )
    func completeFilesSurviveKills(_ hasLength: Bool) async throws {
        let body = Body.bytes(200_000)
        let origin = try ScriptedOrigin { _ in
            if hasLength { return [.response(body: body)] }
            return [.head(200, headers: ["Transfer-Encoding": "chunked"]), .chunk(body), .chunk([])]
        }
        let plan = FaultPlan()
        let first = try await ServiceFixture { $0.fileSystem = FileSystem(observer: plan) }
        let (isRenamed, mayContinue) = (Gate(), Gate())
        plan.before(.open, pathContaining: "/outbox") {
            isRenamed.open()
            mayContinue.block()
        }
        // The record of the new transfer may be synchronised after the file, so its reply may come when that goes on.
        async let addition = first.add(TransferRequest(download: origin.url + "/a"))
        await isRenamed.wait()
        let directory = try await copy(first)
        mayContinue.open()
        _ = try await addition
        let second = try await ServiceFixture(directory: directory)
        #expect(try second.finished(await second.log.waitForEvents(1)[0]).bytes == body)
        #expect(origin.requests.count == 1)
    }

    @Test("B14 transfers that were refused because the disk is full do not come back after a restart")
    func refusedTransfersStayAway() async throws {
        let plan = FaultPlan()
        let directory = try TemporaryDirectory()
        let first = try await ServiceFixture(directory: directory) { $0.fileSystem = FileSystem(observer: plan) }
        // More than is collected in memory, so that a part of it is written before the failure.
        let requests = (0..<300).map { number in
            var request = TransferRequest(download: "http://127.0.0.1:1/\(number)")
            request.note = [UInt8](repeating: 1, count: 4_096)
            return request
        }
        plan.fail(.pwrite, with: ENOSPC, at: 2)
        await #expect(throws: EideticError.self) { _ = try await first.service.add(requests, to: "s") }
        plan.removeAllRules()
        let identifier = try await first.add(TransferRequest(download: "http://127.0.0.1:1/a"))
        await first.close()
        let second = try await ServiceFixture(directory: directory)
        #expect(try await second.service.transfers(in: "s").map(\.identifier) == [identifier])
    }

    @Test("B14 records after a rewritten journal are kept although its directory could not be synchronised")
    func rewrittenJournalsAreUsed() async throws {
        let plan = FaultPlan()
        let time = ManualTime()
        let directory = try TemporaryDirectory()
        let fixture = try await ServiceFixture(directory: directory) {
            $0.fileSystem = FileSystem(observer: plan)
            $0.time = time
        }
        let hasFailed = Gate()
        plan.before(.rename, pathContaining: "/journal") {
            plan.fail(.fsync, with: EIO)
            plan.before(.fsync) { hasFailed.open() }
        }
        let adding = Task { try await fill(fixture) }
        await hasFailed.wait()
        // A command without a pause before its record is written; its reply may come after the next attempt only.
        let pausing = Task { try await fixture.service.pause([TransferIdentifier(1)]) }
        try await eventually("state of the first transfer", is: .paused) {
            try await fixture.service.transfers(in: "s").first?.state
        }
        let copied = try await copy(fixture)
        let second = try await ServiceFixture(directory: copied)
        #expect(try await second.service.transfers(in: "s").first?.state == .paused)
        time.advance(by: .seconds(2))
        fixture.service.clockChanged()
        try await adding.value
        try await pausing.value
    }

    /// Adds and removes transfers until the journal is rewritten; the first one stays.
    private func fill(_ fixture: ServiceFixture) async throws {
        _ = try await fixture.add(TransferRequest(download: "http://127.0.0.1:1/first"))
        try await fixture.service.openSession(TransferSessionConfiguration(identifier: "t"))
        let requests = (0..<300).map { number in
            var request = TransferRequest(download: "http://127.0.0.1:1/\(number)")
            request.note = [UInt8](repeating: 1, count: 4_096)
            return request
        }
        _ = try await fixture.service.add(requests, to: "t")
        try await fixture.service.removeSession("t")
    }

    @Test("B14 a copy of the journal that was not finished is removed")
    func unfinishedCopiesAreRemoved() async throws {
        let directory = try TemporaryDirectory()
        try await ServiceFixture(directory: directory).close()
        try directory.write([1, 2, 3], to: "transfers/journal.new")
        _ = try await ServiceFixture(directory: directory)
        #expect(access(directory.path(of: "transfers/journal.new"), F_OK) != 0)
    }

    @Test("B14 credentials are erased although the disk was full when the transfer ended")
    func credentialsAreErasedLater() async throws {
        let gate = Gate()
        let plan = FaultPlan()
        let origin = try ScriptedOrigin { _ in [.wait(gate), .response(body: [1])] }
        let fixture = try await ServiceFixture { $0.fileSystem = FileSystem(observer: plan) }
        var request = TransferRequest(download: origin.url + "/a")
        request.headers = ["Authorization": "Bearer tOpSeCrEt"]
        _ = try await fixture.add(request)
        // The first write is that of the body, the second one that of the end.
        plan.fail(.pwrite, with: ENOSPC, at: 2)
        gate.open()
        await fixture.log.waitForEvents(1)
        let journal = try fixture.directory.contents(of: "transfers/journal")
        #expect(!String(decoding: journal, as: UTF8.self).contains("tOpSeCrEt"))
    }
}
