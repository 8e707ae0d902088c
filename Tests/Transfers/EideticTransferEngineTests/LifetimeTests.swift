import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc
import Testing

@Suite("sessions, events and waiting", .timeLimit(.minutes(1)))
struct LifetimeTests {
    /// Returns an origin that holds the last third of a body back, and sends ranges at once.
    private func heldOrigin(of body: [UInt8], gate: Gate) throws -> ScriptedOrigin {
        try ScriptedOrigin { request in
            guard request.rangeStart == nil else { return [.ranged(request, body: body, tag: "\"a\"")] }
            let head = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 300000\r\n\r\n"
            return [.send(Array(head.utf8) + body.prefix(200_000)), .wait(gate)]
        }
    }

    @Test("B14 events that are not acknowledged come again after a restart, with the same number and file")
    func eventsComeAgainUntilTheyAreAcknowledged() async throws {
        let origin = try ScriptedOrigin { _ in [.response(body: [1, 2])] }
        let directory = try TemporaryDirectory()
        let first = try await ServiceFixture(directory: directory)
        _ = try await first.download(origin.url + "/a")
        let event = first.log.events[0]
        await first.close()
        let second = try await ServiceFixture(directory: directory)
        let again = await second.log.waitForEvents(1)
        #expect(again == [event])
        #expect(try second.finished(again[0]).bytes == [1, 2])
        try await second.service.acknowledge([event.number])
        try await second.service.acknowledge([event.number, 99])
        let path = try second.path(of: event)
        #expect(access(path, F_OK) != 0)
        await second.close()
        let third = try await ServiceFixture(directory: directory)
        #expect(try await third.service.transfers(in: nil).isEmpty && third.log.events.isEmpty)
    }

    @Test("B14 a paused download keeps its bytes over a restart, and is continued")
    func pausedDownloadsAreContinued() async throws {
        let body = Body.bytes(300_000)
        let gate = Gate(), origin = try heldOrigin(of: body, gate: gate)
        let directory = try TemporaryDirectory()
        let first = try await ServiceFixture(directory: directory)
        let identifier = try await first.add(TransferRequest(download: origin.url + "/a"))
        await first.log.wait { $0.contains { if case .progress(_, 200_000, 300_000) = $0 { true } else { false } } }
        try await first.service.pause([identifier])
        #expect(try await first.service.transfers(in: "s")[0].state == .paused)
        await first.close()
        let second = try await ServiceFixture(directory: directory)
        let status = try await second.service.transfers(in: "s")[0]
        #expect(status.state == .paused && status.completedBytes == 200_000 && status.totalBytes == 300_000)
        try await second.service.resume([identifier])
        #expect(try second.finished(await second.log.waitForEvents(1)[0]).bytes == body)
        #expect(origin.requests.last?.rangeStart == 200_000)
    }

    @Test("B14 after another boot only the bytes that were synchronised are relied on")
    func unsynchronisedBytesAreDroppedAfterABoot() async throws {
        let body = Body.bytes(300_000)
        let gate = Gate(), origin = try heldOrigin(of: body, gate: gate)
        for (boot, offset) in [("one", 200_000), ("two", nil)] {
            origin.removeRequests()
            let directory = try TemporaryDirectory()
            let first = try await ServiceFixture(directory: directory) { $0.boot = "one" }
            _ = try await first.add(TransferRequest(download: origin.url + "/a"))
            await first.log.wait { $0.contains { if case .progress(_, 200_000, _) = $0 { true } else { false } } }
            await first.close()
            if boot == "two" {
                // What a loss of power may leave: the length of the file, without its bytes.
                try zero(in: directory.path(of: "transfers"))
            }
            let second = try await ServiceFixture(directory: directory) { $0.boot = boot }
            if boot == "two" {
                gate.open()
                // The part is gone, so the body is requested from its first byte.
                await origin.waitForRequests(count: 2)
                #expect(origin.requests.last?.rangeStart == nil)
            } else {
                #expect(try second.finished(await second.log.waitForEvents(1)[0]).bytes == body)
                #expect(origin.requests.last?.rangeStart == offset)
            }
        }
    }

    private func zero(in directory: String) throws {
        let files = FileSystem()
        for application in try files.entryNames(in: directory) where application.utf8.count == 32 {
            for part in try files.entryNames(in: "\(directory)/\(application)/parts") {
                let path = "\(directory)/\(application)/parts/\(part)"
                let size = try files.status(of: path).size
                let file = try files.open(path, flags: O_RDWR | O_TRUNC)
                try files.truncate(file, to: size)
            }
        }
    }

    @Test("B14 a cancelled download has data with which another one continues it")
    func cancelledDownloadsAreResumed() async throws {
        let body = Body.bytes(300_000)
        let gate = Gate(), origin = try heldOrigin(of: body, gate: gate)
        let fixture = try await ServiceFixture()
        let identifier = try await fixture.add(TransferRequest(download: origin.url + "/a"))
        await fixture.log.wait { $0.contains { if case .progress(_, 200_000, _) = $0 { true } else { false } } }
        try await fixture.service.cancel([identifier], keepsResumeData: true)
        let event = await fixture.log.waitForEvents(1)[0]
        guard case .cancelled(.application, let data?) = event.outcome else { throw UnexpectedOutcome(event: event) }
        var request = TransferRequest(download: origin.url + "/a")
        request.resumeData = data
        _ = try await fixture.add(request)
        #expect(try fixture.finished(await fixture.log.waitForEvents(2)[1]).bytes == body)
        #expect(origin.requests.last?.rangeStart == 200_000)
    }

    @Test("B14 credentials are erased from the disk when a transfer has ended")
    func credentialsAreErased() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { _ in [.wait(gate), .response(body: [1])] }
        let fixture = try await ServiceFixture()
        var request = TransferRequest(download: origin.url + "/a")
        request.headers = ["Authorization": "Bearer tOpSeCrEt"]
        _ = try await fixture.add(request)
        let journal = fixture.directory.path(of: "transfers/journal")
        let before = String(decoding: try FileSystem().contents(of: journal), as: UTF8.self)
        #expect(before.contains("tOpSeCrEt"))
        #expect(try FileSystem().status(of: journal).permissions == 0o600)
        gate.open()
        await fixture.log.waitForEvents(1)
        let after = String(decoding: try FileSystem().contents(of: journal), as: UTF8.self)
        #expect(!after.contains("tOpSeCrEt"))
    }

    @Test("B14 a session ends once: its last event is announced when nothing is left")
    func finishedSessionsAreAnnounced() async throws {
        let origin = try ScriptedOrigin { _ in [.response(body: [1])] }
        let fixture = try await ServiceFixture()
        _ = try await fixture.service.add((0..<20).map { TransferRequest(download: "\(origin.url)/\($0)") }, to: "s")
        await fixture.log.wait { $0.contains { if case .sessionFinished = $0 { true } else { false } } }
        let events = fixture.log.events.map(\.number)
        #expect(events.count == 20 && events == events.sorted())
        #expect(fixture.log.notifications.last == .sessionFinished(lastEvent: events[19]))
    }

    @Test("B14 a transfer that never ends fails after a week, and jumps of the time of day do not count")
    func transfersFailAfterAWeek() async throws {
        let time = ManualTime()
        // A port that nothing listens on.
        let port = try LoopbackPort.unused()
        let fixture = try await ServiceFixture {
            $0.time = time
            $0.backoff.random = { 1 }
            $0.backoff.lastBound = .seconds(600)
        }
        _ = try await fixture.add(TransferRequest(download: "http://127.0.0.1:\(port)/a"))
        try await eventually("an attempt has failed", value: { try await fixture.service.transfers(in: "s").first }) {
            $0?.state == .waiting && $0?.lastError.isEmpty == false
        }
        time.set(now: time.now + .seconds(400 * 86_400))
        fixture.service.clockChanged()
        #expect(try await fixture.service.transfers(in: "s")[0].state == .waiting)
        time.advance(by: .seconds(7 * 86_400 - 1))
        fixture.service.clockChanged()
        #expect(try await fixture.service.transfers(in: "s")[0].state.isTerminal == false)
        time.advance(by: .seconds(1))
        fixture.service.clockChanged()
        let event = await fixture.log.waitForEvents(1)[0]
        guard case .failed(let code, let message) = event.outcome else { throw UnexpectedOutcome(event: event) }
        #expect(code == "timedOut" && message.contains("604800 seconds"))
    }

    @Test("B14 Retry-After is kept exactly, and the status tells when and why")
    func retryAfterIsKept() async throws {
        let time = ManualTime()
        let origin = try ScriptedOrigin { request in
            request.connection == 1
                ? [.response(429, headers: ["Retry-After": "120"]), .close] : [.response(body: [1])]
        }
        var session = TransferSessionConfiguration(identifier: "s")
        session.retriesUnavailable = true
        let fixture = try await ServiceFixture(session: session) { $0.time = time }
        _ = try await fixture.add(TransferRequest(download: origin.url + "/a"))
        try await eventually("reason of the wait", is: .retryAfter) {
            try await fixture.service.transfers(in: "s").first?.reasons.first?.code
        }
        #expect(try await fixture.service.transfers(in: "s")[0].nextAttempt == time.now + .seconds(120))
        time.advance(by: .seconds(119))
        fixture.service.clockChanged()
        #expect(try await fixture.service.transfers(in: "s")[0].state == .waiting && origin.requests.count == 1)
        time.advance(by: .seconds(1))
        fixture.service.clockChanged()
        await fixture.log.waitForEvents(1)
    }

    @Test("B14 discretionary transfers wait with a reason, at most 24 hours")
    func discretionaryTransfersWait() async throws {
        struct NoPower: TransferConditions {
            func unmetConditions() -> [WaitReason] { [WaitReason(.power, text: "waits for external power")] }
        }
        let time = ManualTime()
        let origin = try ScriptedOrigin { _ in [.response(body: [1])] }
        var session = TransferSessionConfiguration(identifier: "s")
        session.isDiscretionary = true
        let fixture = try await ServiceFixture(session: session) {
            $0.time = time
            $0.conditions = NoPower()
        }
        _ = try await fixture.add(TransferRequest(download: origin.url + "/a"))
        #expect(try await fixture.service.transfers(in: "s")[0].reasons.map(\.code) == [.power])
        time.advance(by: .seconds(86_399))
        fixture.service.clockChanged()
        #expect(try await fixture.service.transfers(in: "s")[0].reasons.map(\.code) == [.power])
        time.advance(by: .seconds(1))
        fixture.service.clockChanged()
        await fixture.log.waitForEvents(1)
    }

    @Test("B14 a full disk is waited for, and the part that has arrived is kept")
    func fullDisksAreWaitedFor() async throws {
        let body = Body.bytes(300_000)
        let plan = FaultPlan()
        let origin = try ScriptedOrigin { request in [.ranged(request, body: body, tag: "\"a\"")] }
        let fixture = try await ServiceFixture { $0.fileSystem = FileSystem(observer: plan) }
        // The part file is written in pieces; one of the last ones fails, for a while.
        let opened = Gate()
        plan.before(.open, pathContaining: "/parts/") {
            plan.fail(.pwrite, with: ENOSPC, at: 5)
            opened.open()
        }
        #expect(try await fixture.download(origin.url + "/a").bytes == body)
        #expect(opened.isOpen && origin.requests.count >= 2)
    }

    @Test("B14 limits of sessions, sizes and methods are refused with a reason")
    func limitsAreRefused() async throws {
        let fixture = try await ServiceFixture()
        for number in 1..<64 {
            try await fixture.service.openSession(TransferSessionConfiguration(identifier: "n\(number)"))
        }
        await #expect(throws: EideticError.self) {
            try await fixture.service.openSession(TransferSessionConfiguration(identifier: "n64"))
        }
        var requests: [TransferRequest] = []
        for url in [
            "ftp://a.test/", "file:///etc/passwd", "http://", "http://a.test/" + String(repeating: "a", count: 32_768),
        ] {
            requests.append(TransferRequest(download: url))
        }
        var request = TransferRequest(download: "http://a.test/")
        request.headers = ["A": "b\r\nC: d"]
        requests.append(request)
        request.headers = ["A": String(repeating: "b", count: 16_384)]
        requests.append(request)
        request.headers = [:]
        request.note = [UInt8](repeating: 0, count: 4_097)
        requests.append(request)
        for request in requests {
            await #expect(throws: EideticError.self) { _ = try await fixture.add(request) }
        }
        #expect(try await fixture.service.transfers(in: nil).isEmpty)
    }

    @Test("B14 an application sees and changes its own transfers only")
    func applicationsAreApart() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { _ in [.wait(gate), .response(body: [1])] }
        let directory = try TemporaryDirectory(named: "apart")
        let process = try ServiceProcess(in: directory)
        let (one, other) = (try process.connect("one"), try process.connect("other"))
        for client in [one, other] { try await client.openSession(TransferSessionConfiguration(identifier: "s")) }
        let transfers = try await one.add([TransferRequest(download: origin.url + "/a")], to: "s")
        try await other.cancel(transfers, keepsResumeData: false)
        #expect(try await other.transfers(in: nil).isEmpty)
        gate.open()
        let log = EventLog()
        let observation = try await one.observe("s") { log.record($0) }
        let event = await log.waitForEvents(1)[0]
        withExtendedLifetime(observation) {}
        #expect(event.outcome.isFinished)
        try await other.acknowledge([event.number])
        #expect(try await one.transfers(in: nil).count == 1)
    }
}

extension ServiceFixture {
    func path(of event: TransferEvent) throws -> String { try responsePath(event) }

    private func responsePath(_ event: TransferEvent) throws -> String {
        guard case .finished(let response) = event.outcome else { throw UnexpectedOutcome(event: event) }
        return response.path
    }
}

extension TransferEvent.Outcome {
    var isFinished: Bool { if case .finished = self { true } else { false } }
}
