import CLinux
import EideticCore
import EideticFetch
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc
import Testing

@Suite("files and services that hold others up", .timeLimit(.minutes(1)))
struct HoldUpTests {
    /// Adds an upload of a new file of an application.
    private func upload(
        _ engine: SharedEngine,
        of application: String,
        length: Int = 10
    ) async throws -> TransferReply {
        await engine.perform(.openSession(TransferSessionConfiguration(identifier: "s")), of: application)
        // One file each: another one may be copied at this moment.
        let name = "file-\(UInt64.random(in: 0...UInt64.max))"
        let path = try engine.directory.write([UInt8](repeating: 1, count: length), to: name)
        let request = TransferRequest(upload: path, to: "http://127.0.0.1:1/a")
        return await engine.perform(.add([request], session: "s"), of: application, files: [try UploadFile(path: path)])
    }

    @Test("B14 a file that cannot be read for now holds up the uploads of its application only")
    func otherApplicationsUpload() async throws {
        let plan = FaultPlan(), (isCopying, mayCopy) = (Gate(), Gate())
        let engine = try SharedEngine { $0.fileSystem = FileSystem(observer: plan) }
        plan.before(.open, pathContaining: "/copy-") {
            isCopying.open()
            mayCopy.block()
        }
        let slow = Task { try await upload(engine, of: "slow") }
        await isCopying.wait()
        guard case .added = try await upload(engine, of: "other") else {
            Issue.record("the upload of the other application is not added")
            return
        }
        mayCopy.open()
        guard case .added = try await slow.value else {
            Issue.record("the upload that waited is not added")
            return
        }
    }

    /// Blocks all copies until a gate is opened.
    private final class CopyBlocker: SystemCallObserver {
        let (allStarted, mayCopy) = (Gate(), Gate())
        private let count = Counter()
        private let expectedCount: Int

        init(expectedCount: Int) { self.expectedCount = expectedCount }

        func willPerform(_ call: SystemCall, path: String?) -> Int32? {
            guard call == .open, path?.contains("/copy-") == true else { return nil }
            if count.next() + 1 == expectedCount { allStarted.open() }
            mayCopy.block()
            return nil
        }
    }

    @Test("B14 the applications whose files are being copied are limited", arguments: [15, 16, 17])
    func copiesAreLimited(_ count: Int) async throws {
        let blocker = CopyBlocker(expectedCount: min(count, 16))
        let engine = try SharedEngine { $0.fileSystem = FileSystem(observer: blocker) }
        let additions = (0..<min(count, 16)).map { index in Task { try await upload(engine, of: "a\(index)") } }
        await blocker.allStarted.wait()
        if count > 16 {
            guard case .failed("limitExceeded", let message) = try await upload(engine, of: "last") else {
                Issue.record("one application more is not refused")
                return
            }
            #expect(message.contains("does not respond"))
        }
        blocker.mayCopy.open()
        for addition in additions {
            if case .failed(_, let message) = try await addition.value { Issue.record("\(message)") }
        }
    }

    @Test("B14 a copy that arrives after the quota is used up is refused, and removed")
    func quotaIsCheckedAfterCopies() async throws {
        let plan = FaultPlan(), (isCopying, mayCopy) = (Gate(), Gate())
        let engine = try SharedEngine {
            $0.fileSystem = FileSystem(observer: plan)
            $0.diskLimit = 150
        }
        plan.before(.open, pathContaining: "/copy-1-") {
            isCopying.open()
            mayCopy.block()
        }
        let first = Task { try await upload(engine, of: "a", length: 100) }
        await isCopying.wait()
        let second = Task { try await upload(engine, of: "a", length: 100) }
        mayCopy.open()
        let replies = [try await first.value, try await second.value]
        #expect(replies.count { if case .added = $0 { true } else { false } } == 1, "\(replies)")
    }

    @Test("B14 calls that wait for a service within the process end when it is closed", .timeLimit(.minutes(1)))
    func closedServicesReply() async throws {
        let plan = FaultPlan(), (isCopying, mayCopy) = (Gate(), Gate())
        let fixture = try await ServiceFixture { $0.fileSystem = FileSystem(observer: plan) }
        let path = try fixture.directory.write([1], to: "file")
        plan.before(.open, pathContaining: "/copy-") {
            isCopying.open()
            mayCopy.block()
        }
        let adding = Task { try await fixture.add(TransferRequest(upload: path, to: "http://127.0.0.1:1/a")) }
        await isCopying.wait()
        await fixture.close()
        await #expect(throws: EideticError.self) { try await adding.value }
        mayCopy.open()
    }

    @Test("B14 an upload whose file is being copied when the service is stopped is to be added again")
    func stoppedCopiesAreAddedAgain() async throws {
        let plan = FaultPlan(), (isCopying, mayCopy) = (Gate(), Gate())
        let engine = try SharedEngine { $0.fileSystem = FileSystem(observer: plan) }
        plan.before(.open, pathContaining: "/copy-") {
            isCopying.open()
            mayCopy.block()
        }
        let adding = Task { try await upload(engine, of: "a") }
        await isCopying.wait()
        await engine.stop()
        mayCopy.open()
        guard case .failed("connectionLost", _) = try await adding.value else {
            Issue.record("\(try await adding.value)")
            return
        }
    }

    @Test("B14 nobody is told of a transfer that a kill would lose")
    func unsafeTransfersAreNotListed() async throws {
        let plan = FaultPlan(), (isSynchronising, mayGoOn) = (Gate(), Gate())
        let engine = try SharedEngine { $0.fileSystem = FileSystem(observer: plan) }
        await engine.perform(.openSession(TransferSessionConfiguration(identifier: "s")), of: "a")
        plan.before(.fdatasync) {
            isSynchronising.open()
            mayGoOn.block()
        }
        let request = TransferRequest(download: "http://127.0.0.1:1/a")
        let adding = Task { await engine.perform(.add([request], session: "s"), of: "a") }
        await isSynchronising.wait()
        let isListed = Guarded(false)
        let list = TransferCommand.list(session: nil, after: TransferIdentifier(0))
        await engine.call { engine in
            engine.perform(list, of: "a") { reply in
                if case .transfers(let transfers, _) = reply, transfers.count == 1 { isListed.withLock { $0 = true } }
            }
        }
        #expect(!isListed.withLock { $0 })
        mayGoOn.open()
        guard case .added = await adding.value else {
            Issue.record("the transfer is not added")
            return
        }
        #expect(await engine.transfers(of: "a").count == 1)
        #expect(isListed.withLock { $0 })
    }

    @Test("B14 records that wait for the journal are made safe when a service within the process is closed")
    func closedServicesCommit() async throws {
        let plan = FaultPlan(), (isSynchronising, mayGoOn) = (Gate(), Gate())
        let fixture = try await ServiceFixture { $0.fileSystem = FileSystem(observer: plan) }
        plan.before(.fdatasync) {
            isSynchronising.open()
            mayGoOn.block()
        }
        let adding = Task { try await fixture.add(TransferRequest(download: "http://127.0.0.1:1/a")) }
        await isSynchronising.wait()
        await fixture.close()
        let transfer = try await adding.value
        mayGoOn.open()
        let second = try await ServiceFixture(directory: fixture.directory)
        #expect(try await second.service.transfers(in: nil).map(\.identifier) == [transfer])
    }

    @Test("B14 the reserved bytes of the file system stay free", arguments: [1, -1])
    func reservedBytesStayFree(_ sign: Int) async throws {
        let body = Body.bytes(100_000)
        let origin = try ScriptedOrigin { _ in [.response(headers: ["ETag": "\"1\""], body: body)] }
        let directory = try TemporaryDirectory()
        let free = try FileSystem().freeSpace(at: directory.path).availableBytes
        // Other programs write at the same time.
        let (plan, isChecked) = (FaultPlan(), Gate())
        // The first time it is asked for the quota.
        plan.before(.statvfs, at: 2) { isChecked.open() }
        let engine = try SharedEngine(directory: directory) {
            $0.fileSystem = FileSystem(observer: plan)
            $0.reservedBytes = sign > 0 ? free + 1 << 40 : 0
        }
        let log = await engine.download([origin.url + "/a"], as: "a")
        if sign < 0 {
            await log.waitForEvents(1)
        } else {
            await isChecked.wait()
            let status = await engine.transfers(of: "a").first
            #expect(status?.reasons.map(\.code) == [.diskFull] && status?.lastError.contains("would be left") == true)
        }
    }

    @Test("B14 an event that cannot be read from the journal is reported as a failure")
    func unreadableEventsAreReported() async throws {
        let origin = try ScriptedOrigin { _ in [.response(body: Array("mArKeR".utf8))] }
        let engine = try SharedEngine()
        let log = await engine.download([origin.url + "/a"], as: "a")
        let event = await log.waitForEvents(1)[0]
        var journal = try engine.directory.contents(of: "transfers/journal")
        // The body, which is masked, is the end of the last record.
        journal[journal.count - 1] ^= 0xff
        let file = try FileSystem().open(engine.directory.path(of: "transfers/journal"), flags: O_WRONLY)
        try journal.withUnsafeBufferPointer { bytes throws(SystemError) in
            try FileSystem().write(UnsafeRawBufferPointer(bytes), to: file, at: 0)
        }
        let second = EventLog()
        await engine.call { $0.delivery.observe("s", of: "a", handler: second.record) }
        let reported = await second.waitForEvents(1)[0]
        #expect(reported.number == event.number && reported.url == event.url)
        guard case .failed("fileFailure", let message) = reported.outcome else {
            Issue.record("\(reported.outcome)")
            return
        }
        #expect(message.contains("cannot be read"))
    }
}
