import EideticCore
import EideticFetch
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Testing

@Suite("responses that prove nothing", .timeLimit(.minutes(1)))
struct RefusalTests {
    @Test("B14 status 416 does not complete a body whose announced length is another one")
    func unsatisfiedRangesDoNotShortenBodies() async throws {
        let (first, second) = (Body.bytes(200_000, seed: 1), Body.bytes(100_000, seed: 2))
        let origin = try ScriptedOrigin { request in
            if request.connection == 1 { return ScriptedOrigin.Step.broken(first, after: 100_000, tag: "\"v1\"") }
            // The server ignores If-Range; its new version is as long as the part.
            guard request.rangeStart != nil else { return [.response(headers: ["ETag": "\"v2\""], body: second)] }
            return [.response(416, headers: ["Content-Range": "bytes */100000"])]
        }
        let fixture = try await ServiceFixture()
        #expect(try await fixture.download(origin.url + "/a").bytes == second)
    }

    @Test("B14 a 206 without the ETag is not appended")
    func rangesWithoutTagAreNotAppended() async throws {
        let (first, second) = (Body.bytes(200_000, seed: 1), Body.bytes(200_000, seed: 2))
        let origin = try ScriptedOrigin { request in
            if request.connection == 1 { return ScriptedOrigin.Step.broken(first, after: 150_000, tag: "\"v1\"") }
            guard let start = request.rangeStart else {
                return [.response(headers: ["ETag": "\"v2\""], body: second)]
            }
            let range = "bytes \(start)-199999/200000"
            return [.response(206, headers: ["Content-Range": range], body: Array(second[start...]))]
        }
        let fixture = try await ServiceFixture()
        #expect(try await fixture.download(origin.url + "/a").bytes == second)
    }

    @Test("B14 a 206 with another ETag is not appended, also of a tag that begins with a combining mark")
    func rangesOfOtherTagsAreNotAppended() async throws {
        let (first, second) = (Body.bytes(200_000, seed: 1), Body.bytes(200_000, seed: 2))
        let origin = try ScriptedOrigin { request in
            let tag = "\"\u{301}2\""
            if request.connection == 1 {
                return ScriptedOrigin.Step.broken(first, after: 150_000, tag: "\"\u{301}1\"")
            }
            guard let start = request.rangeStart else { return [.response(headers: ["ETag": tag], body: second)] }
            let fields: KeyValuePairs = ["ETag": tag, "Content-Range": "bytes \(start)-199999/200000"]
            return [.response(206, headers: fields, body: Array(second[start...]))]
        }
        let fixture = try await ServiceFixture()
        #expect(try await fixture.download(origin.url + "/a").bytes == second)
    }

    @Test("B14 a 206 is not the rest of a body whose length nobody has stated")
    func rangesOfUnknownLengthAreNotTheRest() async throws {
        let body = Body.bytes(200_000)
        let origin = try ScriptedOrigin { request in
            let head = ScriptedOrigin.Step.head(200, headers: ["ETag": "\"a\"", "Transfer-Encoding": "chunked"])
            if request.connection == 1 { return [head, .chunk(Array(body[..<100_000])), .close] }
            guard request.rangeStart != nil else { return [head, .chunk(body), .chunk([])] }
            let fields: KeyValuePairs = ["ETag": "\"a\"", "Content-Range": "bytes 100000-149999/*"]
            return [.response(206, headers: fields, body: Array(body[100_000..<150_000]))]
        }
        let fixture = try await ServiceFixture()
        #expect(try await fixture.download(origin.url + "/a").bytes == body)
    }
}

@Suite("attempts that achieve nothing", .timeLimit(.minutes(1)))
struct BackoffTests {
    private func fixture(_ time: ManualTime, retriesUnavailable: Bool = false) async throws -> ServiceFixture {
        var session = TransferSessionConfiguration(identifier: "s")
        session.retriesUnavailable = retriesUnavailable
        return try await ServiceFixture(session: session) {
            $0.time = time
            $0.backoff = Backoff()
            $0.backoff.random = { 1 }
        }
    }

    /// Returns the delays before the next attempts.
    private func delays(_ count: Int, of fixture: ServiceFixture, time: ManualTime) async throws -> [Duration] {
        var delays: [Duration] = []
        for number in 1...count {
            let delay = try await eventually("attempt \(number) is planned") {
                try await fixture.service.transfers(in: "s").first?.nextAttempt.map { $0 - time.now } ?? .zero
            } until: {
                $0 > .zero
            }
            delays.append(delay)
            time.advance(by: delay)
            fixture.service.clockChanged()
        }
        return delays
    }

    @Test("B14 the delay grows while each attempt must begin again, however many bytes it has transferred")
    func uselessBytesAreNoProgress() async throws {
        let origin = try ScriptedOrigin { _ in
            ScriptedOrigin.Step.broken(Body.bytes(200_000), after: 190_000, tag: nil)
        }
        let time = ManualTime()
        let fixture = try await fixture(time)
        _ = try await fixture.add(TransferRequest(download: origin.url + "/a"))
        #expect(try await delays(4, of: fixture, time: time) == [1, 2, 4, 8].map { .seconds($0) })
    }

    @Test("B14 the delay is that of a first failure while bytes are kept")
    func keptBytesAreProgress() async throws {
        let body = Body.bytes(400_000)
        let origin = try ScriptedOrigin { request in
            guard let start = request.rangeStart else {
                return ScriptedOrigin.Step.broken(body, after: 100_000, tag: "\"a\"")
            }
            let range = "bytes \(start)-399999/400000"
            let fields = "ETag: \"a\"\r\nContent-Range: \(range)\r\nContent-Length: \(400_000 - start)"
            let head = "HTTP/1.1 206 Partial Content\r\n\(fields)\r\n\r\n"
            return [.send(Array(head.utf8) + body[start..<start + 50_000]), .close]
        }
        let time = ManualTime()
        let fixture = try await fixture(time)
        _ = try await fixture.add(TransferRequest(download: origin.url + "/a"))
        #expect(try await delays(4, of: fixture, time: time) == [1, 1, 1, 1].map { .seconds($0) })
    }

    @Test("B14 a Retry-After of no time does not lead to requests without a pause")
    func retryAfterDoesNotRemoveThePause() async throws {
        let origin = try ScriptedOrigin { _ in [.response(503, headers: ["Retry-After": "0"])] }
        let time = ManualTime()
        let fixture = try await fixture(time, retriesUnavailable: true)
        _ = try await fixture.add(TransferRequest(download: origin.url + "/a"))
        #expect(try await delays(3, of: fixture, time: time) == [1, 2, 4].map { .seconds($0) })
        #expect(origin.requests.count <= 4)
    }

    @Test("B14 bytes of an upload that the server did not keep are no progress")
    func lostUploadsAreNoProgress() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { _ in
            [.send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)), .wait(gate), .reset]
        }
        let directory = try TemporaryDirectory()
        let path = try directory.write(Body.bytes(100_000), to: "file")
        let time = ManualTime()
        let fixture = try await fixture(time)
        _ = try await fixture.add(TransferRequest(upload: path, to: origin.url + "/a"))
        await fixture.log.wait { $0.contains { if case .progress(_, 1..., _) = $0 { true } else { false } } }
        gate.open()
        #expect(try await delays(3, of: fixture, time: time) == [1, 2, 4].map { .seconds($0) })
    }
}
