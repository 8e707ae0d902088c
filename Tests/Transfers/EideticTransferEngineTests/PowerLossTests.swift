import EideticCore
import EideticFetch
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc
import Testing

@Suite("losses of power", .timeLimit(.minutes(1)))
struct PowerLossTests {
    /// Records the length of the journal at each synchronisation, which is what a loss of power leaves at least.
    private final class SyncObserver: SystemCallObserver {
        let length = Guarded(0)
        private let path: String

        init(journal path: String) { self.path = path }

        func willPerform(_ call: SystemCall, path: String?) -> Int32? {
            guard call == .fdatasync else { return nil }
            let size = (try? FileSystem().status(of: self.path).size) ?? 0
            length.withLock { $0 = size }
            return nil
        }
    }

    private func waitForProgress(_ log: EventLog, _ count: Int) async {
        await log.wait { notifications in
            notifications.contains { if case .progress(_, count, _) = $0 { true } else { false } }
        }
    }

    /// Adds sessions, whose records are synchronised with all that precede them.
    private func synchronise(_ fixture: ServiceFixture, _ name: String) async throws {
        for number in 0..<2 {
            try await fixture.service.openSession(TransferSessionConfiguration(identifier: "\(name)\(number)"))
        }
    }

    @Test("B14 bytes of a new version never follow a validator of the old one after a loss of power")
    func versionsAreNotMixed() async throws {
        let (old, new) = (Body.bytes(1_000_000), Body.bytes(1_000_000, seed: 2))
        let (breaks, holds, count) = (Gate(), Gate(), Counter())
        let origin = try ScriptedOrigin { request in
            let number = count.next()
            guard number < 2 else { return [.ranged(request, body: old, tag: "\"1\"")] }
            let head = "HTTP/1.1 200 OK\r\nETag: \"\(number + 1)\"\r\nContent-Length: 1000000\r\n\r\n"
            if number == 0 { return [.send(Array(head.utf8) + old[..<300_000]), .wait(breaks), .close] }
            // The resource has changed, and comes back after the loss of power.
            return [.send(Array(head.utf8) + new[..<90_000]), .wait(holds), .close]
        }
        let directory = try TemporaryDirectory()
        let observer = SyncObserver(journal: directory.path(of: "transfers/journal"))
        let first = try await ServiceFixture(directory: directory) {
            ($0.fileSystem, $0.boot, $0.markInterval) = (FileSystem(observer: observer), "1", 100_000)
        }
        _ = try await first.add(TransferRequest(download: origin.url + "/a"))
        await waitForProgress(first.log, 300_000)
        try await synchronise(first, "t")
        breaks.open()
        await waitForProgress(first.log, 90_000)
        let copy = try TemporaryDirectory()
        _ = try await Subprocess.run("/bin/cp", arguments: ["-a", directory.path(of: "transfers"), copy.path])
        truncate(copy.path(of: "transfers/journal"), observer.length.withLock { $0 })
        holds.open()
        await first.close()
        let second = try await ServiceFixture(directory: copy) { $0.boot = "2" }
        #expect(try second.finished(await second.log.waitForEvents(1)[0]).bytes == old)
    }

    @Test("B14 what a server sends does not stand in the journal as it was sent: a torn record has no other within it")
    func bodiesAreMasked() async throws {
        let body = Body.bytes(4_000)
        let origin = try ScriptedOrigin { _ in [.response(200, headers: [:], body: body)] }
        let directory = try TemporaryDirectory()
        let fixture = try await ServiceFixture(directory: directory)
        _ = try await fixture.add(TransferRequest(download: origin.url + "/a"))
        #expect(try fixture.finished(await fixture.log.waitForEvents(1)[0]).bytes == body)
        let journal = try directory.contents(of: "transfers/journal")
        #expect(journal.count > body.count)
        #expect(journal.firstRange(of: body.prefix(16)) == nil && journal.firstRange(of: body.suffix(16)) == nil)
        await fixture.close()
    }

    @Test("B14 a download whose validator was not synchronised begins again after a loss of power")
    func unsynchronisedValidatorsAreForgotten() async throws {
        let body = Body.bytes(500_000), holds = Gate(), count = Counter()
        let origin = try ScriptedOrigin { request in
            guard count.next() == 0 else { return [.ranged(request, body: body, tag: "\"1\"")] }
            let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 500000\r\n\r\n"
            return [.send(Array(head.utf8) + body[..<300_000]), .wait(holds), .close]
        }
        let directory = try TemporaryDirectory()
        let observer = SyncObserver(journal: directory.path(of: "transfers/journal"))
        let first = try await ServiceFixture(directory: directory) {
            ($0.fileSystem, $0.boot) = (FileSystem(observer: observer), "1")
        }
        _ = try await first.add(TransferRequest(download: origin.url + "/a"))
        await waitForProgress(first.log, 300_000)
        let copy = try TemporaryDirectory()
        _ = try await Subprocess.run("/bin/cp", arguments: ["-a", directory.path(of: "transfers"), copy.path])
        truncate(copy.path(of: "transfers/journal"), observer.length.withLock { $0 })
        let second = try await ServiceFixture(directory: copy) { $0.boot = "2" }
        #expect(try second.finished(await second.log.waitForEvents(1)[0]).bytes == body)
        #expect(origin.requests.allSatisfy { $0.rangeStart == nil } && origin.requests.count == 2)
        holds.open()
    }

    @Test("B14 a part that is kept for resume data is synchronised before the event")
    func keptPartsAreSynchronised() async throws {
        let body = Body.bytes(500_000), holds = Gate(), plan = FaultPlan()
        let origin = try ScriptedOrigin { _ in
            let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 500000\r\n\r\n"
            return [.send(Array(head.utf8) + body[..<300_000]), .wait(holds), .close]
        }
        let fixture = try await ServiceFixture { $0.fileSystem = FileSystem(observer: plan) }
        let transfer = try await fixture.add(TransferRequest(download: origin.url + "/a"))
        await waitForProgress(fixture.log, 300_000)
        plan.resetCalls()
        try await fixture.service.cancel([transfer], keepsResumeData: true)
        await fixture.log.waitForEvents(1)
        let calls = plan.calls
        let rename = try #require(calls.firstIndex { $0.call == .rename && $0.path?.contains("/kept/") == true })
        // One of the part, and one of the journal.
        #expect(calls[rename...].count { $0.call == .fdatasync } == 2)
        holds.open()
    }
}
