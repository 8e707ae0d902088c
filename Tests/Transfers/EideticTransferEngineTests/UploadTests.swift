import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc
import Testing

@Suite("uploads of files", .timeLimit(.minutes(5)))
struct UploadTests {
    @Test("B14 a file is uploaded from disk, and the response is a file", arguments: [0, 1, 3_000_000])
    func filesAreUploaded(_ size: Int) async throws {
        let origin = try UploadOrigin(isResumable: false)
        let directory = try TemporaryDirectory()
        let body = Body.bytes(size)
        try directory.write(body, to: "file")
        let fixture = try await ServiceFixture()
        var request = TransferRequest(upload: directory.path(of: "file"), to: origin.url)
        request.headers = ["Content-Type": "image/png"]
        _ = try await fixture.add(request)
        // The service has a copy.
        unlink(directory.path(of: "file"))
        let event = await fixture.log.waitForEvents(1)[0]
        let (response, bytes) = try fixture.finished(event)
        #expect(response.status == 201 && bytes == Array("ok".utf8))
        #expect(origin.state.withLock { $0.received } == body)
        #expect(origin.state.withLock { $0.headers[0]["content-type"] } == "image/png")
    }

    @Test("B14 a file is uploaded from a file system whose files the kernel cannot copy by itself")
    func kernelFilesAreUploaded() async throws {
        let origin = try UploadOrigin(isResumable: false), fixture = try await ServiceFixture()
        _ = try await fixture.add(TransferRequest(upload: "/proc/version", to: origin.url))
        let (response, _) = try fixture.finished(await fixture.log.waitForEvents(1)[0])
        #expect(response.status == 201)
        #expect(origin.state.withLock { $0.received } == (try FileSystem().contents(of: "/proc/version")))
    }

    @Test(
        "B14 a redirect of an upload with POST takes the file along, unless it says or means GET",
        arguments: [(300, "POST"), (301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")]
    )
    func postsAreRedirected(status: Int, method: String) async throws {
        let origin = try ScriptedOrigin(readsBodies: true) { request in
            request.path == "/b" ? [.response(200)] : [.response(status, headers: ["Location": "/b"])]
        }
        let directory = try TemporaryDirectory(), fixture = try await ServiceFixture()
        let path = try directory.write(Body.bytes(100), to: "file")
        var request = TransferRequest(upload: path, to: origin.url + "/a")
        request.method = "POST"
        _ = try await fixture.add(request)
        _ = await fixture.log.waitForEvents(1)
        #expect(origin.requests.map { "\($0.method) \($0.path)" } == ["POST /a", "\(method) /b"])
        #expect(origin.requests.last?.body == (method == "POST" ? Body.bytes(100) : []))
    }

    @Test(
        "B14 an upload that is killed again and again arrives once, and no byte is sent twice where the server resumes"
    )
    func resumableUploadsSurviveKills() async throws {
        let size = Torture.repetitions(20 << 20, full: 200 << 20)
        try await uploadWithKills(size: size, kills: Torture.repetitions(4, full: 10), isResumable: true)
    }

    @Test("B14 an upload to a server that does not resume is sent again whole")
    func plainUploadsAreSentAgain() async throws {
        try await uploadWithKills(size: 2 << 20, kills: 2, isResumable: false)
    }

    private func uploadWithKills(size: Int, kills: Int, isResumable: Bool) async throws {
        let origin = try UploadOrigin(isResumable: isResumable)
        let directory = try TemporaryDirectory(named: "upload")
        let body = Body.bytes(size)
        let path = try directory.write(body, to: "file")
        let process = try ServiceProcess(in: directory)
        var client = try process.connect()
        try await client.openSession(TransferSessionConfiguration(identifier: "s"))
        var pauses: [(reached: Gate, mayContinue: Gate)] = []
        for kill in 1...kills { pauses.append(origin.pause(at: size / (kills + 1) * kill)) }
        _ = try await client.add([TransferRequest(upload: path, to: origin.url)], to: "s")
        for pause in pauses {
            await pause.reached.wait()
            process.kill()
            pause.mayContinue.open()
            try process.start()
        }
        client = try process.connect()
        let log = EventLog()
        let observation = try await client.observe("s") { log.record($0) }
        let events = await log.waitForEvents(1)
        withExtendedLifetime(observation) {}
        #expect(events.count == 1)
        let state = origin.state.withLock { $0 }
        #expect(Digest(sha256: state.received) == Digest(sha256: body))
        if isResumable { #expect(state.bodyBytes == size, "\(state.bodyBytes - size) bytes were sent twice") }
        #expect(state.methods.filter { $0 == "PATCH" }.isEmpty != isResumable)
    }

    @Test("B14 an upload that the server has forgotten begins again")
    func forgottenUploadsBeginAgain() async throws {
        let origin = try UploadOrigin(isResumable: true)
        let directory = try TemporaryDirectory()
        let body = Body.bytes(4 << 20)
        let path = try directory.write(body, to: "file")
        let pause = origin.pause(at: 1 << 20)
        let fixture = try await ServiceFixture()
        let identifier = try await fixture.add(TransferRequest(upload: path, to: origin.url))
        await pause.reached.wait()
        try await fixture.service.pause([identifier])
        origin.state.withLock { $0.rejectsLocation = true }
        pause.mayContinue.open()
        try await fixture.service.resume([identifier])
        await fixture.log.waitForEvents(1)
        #expect(origin.state.withLock { $0.methods } == ["PUT", "HEAD", "PUT"])
        #expect(origin.state.withLock { $0.received } == body)
    }

    @Test("B14 a redirect of a continued upload leads to the same step there, and not to a new upload")
    func continuedUploadsAreRedirected() async throws {
        let origin = try ScriptedOrigin { request in
            let end = "Content-Length: 0\r\nConnection: close\r\n\r\n"
            switch (request.method, request.path) {
            case ("PUT", _):
                return [.send(Array("HTTP/1.1 104 Resumption\r\nLocation: /upload/1\r\n\r\n".utf8)), .close]
            case ("HEAD", "/upload/1"):
                return [.send(Array("HTTP/1.1 307 Moved\r\nLocation: /other/1\r\n\(end)".utf8)), .close]
            case ("HEAD", _):
                let fields = "Upload-Offset: 10\r\nUpload-Complete: ?0\r\nConnection: close\r\n\r\n"
                return [.send(Array("HTTP/1.1 204 No Content\r\n\(fields)".utf8)), .close]
            case ("PATCH", "/other/1"):
                return [.send(Array("HTTP/1.1 308 Moved\r\nLocation: /third\r\n\(end)".utf8)), .close]
            default:
                let body =
                    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
                return [.send(Array(body.utf8))]
            }
        }
        let directory = try TemporaryDirectory()
        let path = try directory.write(Body.bytes(100), to: "file")
        let fixture = try await ServiceFixture()
        _ = try await fixture.add(TransferRequest(upload: path, to: origin.url + "/upload"))
        let (response, bytes) = try fixture.finished(await fixture.log.waitForEvents(1)[0])
        #expect(response.status == 200 && bytes == Array("ok".utf8))
        let steps = origin.requests.map { "\($0.method) \($0.path)" }
        #expect(steps == ["PUT /upload", "HEAD /upload/1", "HEAD /other/1", "PATCH /other/1", "PATCH /third"])
        #expect(origin.requests.suffix(2).map { $0.headers["upload-offset"] } == ["10", "10"])
    }

    /// The faults of an answer that has begun.
    enum AnswerFault: String, CaseIterable {
        case transferCoding = "Transfer-Encoding: gzip, chunked\r\n\r\n"
        case lengths = "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"
        case headLength
        case lineLength
        case endInHead = "Server: a\r\n"
        case endInBody = "Content-Length: 100\r\n\r\na"

        var answer: [UInt8] {
            let lines =
                switch self {
                case .headLength: String(repeating: "A: \(String(repeating: "b", count: 1_000))\r\n", count: 140)
                case .lineLength: "A: " + String(repeating: "b", count: 300_000)
                default: rawValue
                }
            return Array("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\n\(lines)".utf8)
        }
    }

    /// RFC 9110, section 9.2.2: a request that is not idempotent is not repeated unless it has had no effect.
    @Test(
        "B14 an upload that is not idempotent is not sent again after an answer, and the failure has its status",
        arguments: AnswerFault.allCases,
        ["POST", "PUT"]
    )
    func answeredUploads(fault: AnswerFault, method: String) async throws {
        let origin = try ScriptedOrigin { request in
            request.connection == 1 ? [.send(fault.answer), .close] : [.response(200)]
        }
        let directory = try TemporaryDirectory()
        let path = try directory.write(Body.bytes(1_000), to: "file")
        let fixture = try await ServiceFixture()
        _ = try await fixture.add(TransferRequest(upload: path, to: origin.url, method: method))
        let event = try #require(await fixture.log.waitForEvents(1).first)
        if method == "PUT" {
            #expect(try fixture.finished(event).response.status == 200)
        } else {
            guard case .failed(_, let message) = event.outcome else { throw UnexpectedOutcome(event: event) }
            #expect(message.hasSuffix("; the server has answered with status 201"), "\(message)")
        }
        #expect(origin.connectionCount == (method == "PUT" ? 2 : 1))
    }

    @Test(
        "B14 an upload that is not idempotent is not sent again after a redirect to its result",
        arguments: [302, 303]
    )
    func redirectedUploads(status: Int) async throws {
        let origin = try ScriptedOrigin { request in
            if request.method == "GET" { return [.close] }
            let fields = "Location: /result\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            let lines = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 \(status) Other\r\n"
            return [.send(Array((lines + fields).utf8)), .close]
        }
        let directory = try TemporaryDirectory()
        let path = try directory.write(Body.bytes(1_000), to: "file")
        let fixture = try await ServiceFixture()
        _ = try await fixture.add(TransferRequest(upload: path, to: origin.url, method: "POST"))
        let event = try #require(await fixture.log.waitForEvents(1).first)
        guard case .failed("connectionLost", _) = event.outcome else { throw UnexpectedOutcome(event: event) }
        #expect(origin.requests.filter { $0.method == "POST" }.count == 1)
    }

    @Test("B14 an upload whose answer was lost is recognisable by its response", arguments: [true, false])
    func lostAnswersAreRecognisable(_ isLost: Bool) async throws {
        let origin = try ScriptedOrigin { request in
            guard request.method == "HEAD" else {
                let resumption = "HTTP/1.1 104 Resumption\r\nLocation: /upload/1\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
                return [.send(Array(resumption.utf8)), isLost ? .close : .response(204)]
            }
            let fields = "Upload-Offset: 100\r\nUpload-Complete: ?1\r\nConnection: close\r\n\r\n"
            return [.send(Array("HTTP/1.1 204 No Content\r\n\(fields)".utf8)), .close]
        }
        let directory = try TemporaryDirectory()
        let path = try directory.write(Body.bytes(100), to: "file")
        let fixture = try await ServiceFixture()
        _ = try await fixture.add(TransferRequest(upload: path, to: origin.url + "/upload"))
        let (response, bytes) = try fixture.finished(await fixture.log.waitForEvents(1)[0])
        #expect(response.status == 204 && bytes.isEmpty)
        let head = BackgroundURLSession.Response(
            url: response.effectiveURL,
            statusCode: response.status,
            headers: response.headers
        )
        #expect(head.isAnswerLost == isLost)
    }

    @Test("B14 an upload with a location asks the server after an answer that is broken, and sends nothing again")
    func brokenAnswerOfResumableUpload() async throws {
        let origin = try ScriptedOrigin { request in
            if request.method == "HEAD" {
                let fields = "Upload-Offset: 100\r\nUpload-Complete: ?1\r\nConnection: close\r\n\r\n"
                return [.send(Array("HTTP/1.1 204 No Content\r\n\(fields)".utf8)), .close]
            }
            let resumption = "HTTP/1.1 104 Resumption\r\nLocation: /upload/1\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
            return [.send(Array((resumption + "HTTP/1.1 200 OK\r\nServer: a\r\n").utf8)), .close]
        }
        let directory = try TemporaryDirectory()
        let path = try directory.write(Body.bytes(100), to: "file")
        let fixture = try await ServiceFixture()
        _ = try await fixture.add(TransferRequest(upload: path, to: origin.url + "/upload", method: "POST"))
        let (response, _) = try fixture.finished(await fixture.log.waitForEvents(1)[0])
        let methods = origin.requests.map(\.method)
        #expect(response.status == 204 && methods == ["POST", "HEAD"], "\(methods)")
    }

    @Test("B14 an upload is sent again after an answer that says unavailable and is cut", arguments: [429, 503])
    func unavailable(status: Int) async throws {
        let origin = try ScriptedOrigin { request in
            guard request.connection == 1 else { return [.response(200)] }
            return [.send(Array("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 \(status) Busy\r\nServer: a\r\n".utf8)), .close]
        }
        let directory = try TemporaryDirectory()
        let path = try directory.write(Body.bytes(100), to: "file")
        let fixture = try await ServiceFixture()
        _ = try await fixture.add(TransferRequest(upload: path, to: origin.url, method: "POST"))
        #expect(try fixture.finished(await fixture.log.waitForEvents(1)[0]).response.status == 200)
    }

    @Test("B14 a file that cannot be read is refused when it is added")
    func missingFilesAreRefused() async throws {
        let fixture = try await ServiceFixture()
        await #expect(throws: EideticError.self) {
            _ = try await fixture.add(TransferRequest(upload: "/nonexistent/file", to: "http://127.0.0.1:1/"))
        }
        await #expect(throws: EideticError.self) {
            _ = try await fixture.add(TransferRequest(upload: "/tmp", to: "http://127.0.0.1:1/"))
        }
    }
}
