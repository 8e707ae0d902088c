import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Testing

@Suite("downloads to files", .timeLimit(.minutes(1)))
struct DownloadTests {
    @Test("B14 any status is a result, with its body", arguments: [200, 404, 500, 401, 503])
    func anyStatusIsAResult(_ status: Int) async throws {
        let origin = try ScriptedOrigin { _ in [.response(status, body: [1, 2, 3])] }
        let fixture = try await ServiceFixture()
        let (response, bytes) = try await fixture.download(origin.url + "/a")
        #expect(response.status == status && bytes == [1, 2, 3] && response.length == 3)
    }

    @Test(
        "B14 bodies around the size that is kept in the journal arrive whole",
        arguments: [0, 1, 65_535, 65_536, 65_537]
    )
    func bodiesOfAllSizesArrive(_ size: Int) async throws {
        let body = Body.bytes(size)
        let origin = try ScriptedOrigin { _ in [.response(body: body)] }
        let fixture = try await ServiceFixture()
        let (response, bytes) = try await fixture.download(origin.url + "/a")
        #expect(bytes == body && response.length == size)
        let mode = try FileSystem().status(of: response.path).permissions
        #expect(mode == 0o600)
    }

    /// RFC 9112, section 6.3: such a response has no body, whatever its header says.
    @Test("B14 a length is none where a status has no body, or where it is too large", arguments: [204, 304, 200])
    func lengthsThatAreNone(_ status: Int) async throws {
        let length = status == 200 ? "99999999999999999999" : "1149"
        let body: [UInt8] = status == 200 ? [1, 2, 3] : []
        let origin = try ScriptedOrigin { _ in
            [.head(status, headers: ["Content-Length": length]), .send(body), .close]
        }
        let fixture = try await ServiceFixture()
        let (response, bytes) = try await fixture.download(origin.url + "/a")
        #expect(response.status == status && bytes == body)
    }

    @Test("B14 a response with more fields than are kept is a result, decoded")
    func manyFields() async throws {
        let body = Body.bytes(10_000)
        let stored = try await Subprocess.run("gzip", arguments: ["-c"], input: body).output
        let fields = (0..<2_000).map { "X-\($0): y\r\n" }.joined()
        let head = "HTTP/1.1 200 OK\r\n\(fields)Content-Encoding: gzip\r\nContent-Length: \(stored.count)\r\n\r\n"
        let origin = try ScriptedOrigin { _ in [.send(Array(head.utf8) + stored)] }
        let fixture = try await ServiceFixture()
        let (response, bytes) = try await fixture.download(origin.url + "/a")
        #expect(bytes == body && response.headers["Content-Length"] == "\(stored.count)")
    }

    @Test("B14 a chunked body arrives whole")
    func chunkedBodiesArrive() async throws {
        let body = Body.bytes(200_000)
        let origin = try ScriptedOrigin { _ in
            [
                .head(200, headers: ["Transfer-Encoding": "chunked"]), .chunk(Array(body[..<150_000])),
                .chunk(Array(body[150_000...])), .chunk([]),
            ]
        }
        let fixture = try await ServiceFixture()
        #expect(try await fixture.download(origin.url + "/a").bytes == body)
    }

    @Test("B14 a chunked body that is cut off is not a result")
    func truncatedChunksAreRetried() async throws {
        let body = Body.bytes(100_000)
        let origin = try ScriptedOrigin { request in
            let chunk = ScriptedOrigin.Step.chunk(body)
            let head = ScriptedOrigin.Step.head(200, headers: ["Transfer-Encoding": "chunked"])
            return request.connection == 1 ? [head, chunk, .close] : [head, chunk, .chunk([])]
        }
        let fixture = try await ServiceFixture()
        #expect(try await fixture.download(origin.url + "/a").bytes == body)
        #expect(origin.requests.count == 2)
    }

    @Test("B14 a body that breaks off is continued where it ended", arguments: [10, 65_536, 150_000])
    func brokenBodiesAreContinued(_ count: Int) async throws {
        let body = Body.bytes(200_000)
        let origin = try ScriptedOrigin { request in
            request.connection == 1
                ? ScriptedOrigin.Step.broken(body, after: count, tag: "\"v1\"")
                : [.ranged(request, body: body, tag: "\"v1\"")]
        }
        let fixture = try await ServiceFixture()
        let (response, bytes) = try await fixture.download(origin.url + "/a")
        #expect(bytes == body && response.status == 200)
        #expect(origin.requests.last?.rangeStart == count)
        #expect(origin.requests.last?.headers["if-range"] == "\"v1\"")
    }

    @Test("B14 a body without a strong validator begins again", arguments: [nil, "W/\"v1\""])
    func bodiesWithoutValidatorBeginAgain(_ tag: String?) async throws {
        let body = Body.bytes(200_000)
        let origin = try ScriptedOrigin { request in
            request.connection == 1
                ? ScriptedOrigin.Step.broken(body, after: 150_000, tag: tag) : [.response(body: body)]
        }
        let fixture = try await ServiceFixture()
        #expect(try await fixture.download(origin.url + "/a").bytes == body)
        #expect(origin.requests.last?.rangeStart == nil)
    }

    @Test("B14 a resource that changes midway is fetched whole, and never mixed")
    func changedResourcesAreNotMixed() async throws {
        let (first, second) = (Body.bytes(200_000, seed: 1), Body.bytes(180_000, seed: 2))
        let origin = try ScriptedOrigin { request in
            request.connection == 1
                ? ScriptedOrigin.Step.broken(first, after: 150_000, tag: "\"v1\"")
                : [.ranged(request, body: second, tag: "\"v2\"")]
        }
        let fixture = try await ServiceFixture()
        #expect(try await fixture.download(origin.url + "/a").bytes == second)
    }

    @Test("B14 a server that ignores ranges sends the whole body once more")
    func refusedRangesBeginAgain() async throws {
        let body = Body.bytes(200_000)
        let origin = try ScriptedOrigin { request in
            request.connection == 1
                ? ScriptedOrigin.Step.broken(body, after: 150_000, tag: "\"v1\"")
                : [.response(200, headers: ["ETag": "\"v1\""], body: body)]
        }
        let fixture = try await ServiceFixture()
        #expect(try await fixture.download(origin.url + "/a").bytes == body)
    }

    static let wrongRanges = [
        "bytes 0-199999/200000", "bytes 149999-199999/200000", "bytes 150000-199999/200001", "bytes */200000", "x",
        "bytes 5-4/9",
    ]

    @Test("B14 a 206 with another range or length is not appended", arguments: wrongRanges)
    func wrongRangesAreNotAppended(_ range: String) async throws {
        let body = Body.bytes(200_000)
        let origin = try ScriptedOrigin { request in
            if request.connection == 1 { return ScriptedOrigin.Step.broken(body, after: 150_000, tag: "\"v1\"") }
            guard request.rangeStart != nil else { return [.response(200, headers: ["ETag": "\"v1\""], body: body)] }
            return [.response(206, headers: ["ETag": "\"v1\"", "Content-Range": range], body: [7, 7, 7])]
        }
        let fixture = try await ServiceFixture()
        #expect(try await fixture.download(origin.url + "/a").bytes == body)
    }

    @Test("B14 a part of the body that was not requested is not a result")
    func unrequestedRange() async throws {
        let body = Body.bytes(1_000)
        let origin = try ScriptedOrigin { request in
            let headers: KeyValuePairs = ["Content-Range": "bytes 10-999/1000"]
            return request.connection == 1
                ? [.response(206, headers: headers, body: Array(body[10...])), .close] : [.response(body: body)]
        }
        let fixture = try await ServiceFixture()
        let (response, bytes) = try await fixture.download(origin.url + "/a")
        #expect(response.status == 200 && bytes == body)
    }

    @Test("B14 a 206 with another validator is not appended")
    func otherValidatorsAreNotAppended() async throws {
        let (first, second) = (Body.bytes(200_000, seed: 1), Body.bytes(200_000, seed: 2))
        let origin = try ScriptedOrigin { request in
            if request.connection == 1 { return ScriptedOrigin.Step.broken(first, after: 150_000, tag: "\"v1\"") }
            guard let start = request.rangeStart else {
                return [.response(200, headers: ["ETag": "\"v2\""], body: second)]
            }
            let range = "bytes \(start)-199999/200000"
            return [.response(206, headers: ["ETag": "\"v2\"", "Content-Range": range], body: Array(second[start...]))]
        }
        let fixture = try await ServiceFixture()
        #expect(try await fixture.download(origin.url + "/a").bytes == second)
    }

    @Test("B14 status 416 with the length of the part means that it is whole", arguments: [true, false])
    func unsatisfiedRanges(_ isWhole: Bool) async throws {
        // The length is not announced, so that only the 416 tells that the body was whole.
        let body = Body.bytes(isWhole ? 100_000 : 90_000, seed: 3)
        let part = Body.bytes(100_000, seed: 3)
        let origin = try ScriptedOrigin { request in
            if request.connection == 1 {
                return [.head(200, headers: ["ETag": "\"v1\"", "Transfer-Encoding": "chunked"]), .chunk(part), .close]
            }
            guard request.rangeStart != nil else { return [.response(200, headers: ["ETag": "\"v1\""], body: body)] }
            return [.response(416, headers: ["Content-Range": "bytes */\(body.count)"])]
        }
        let fixture = try await ServiceFixture()
        #expect(try await fixture.download(origin.url + "/a").bytes == body)
        #expect(origin.requests.count == (isWhole ? 2 : 3))
    }

    @Test("B14 a redirect is followed, and a continued body comes from its target")
    func redirectsAreFollowed() async throws {
        let body = Body.bytes(200_000)
        let origin = try ScriptedOrigin { request in
            if request.path == "/a" {
                return [.response(302, headers: ["Location": "/b?signature=\(request.connection)"])]
            }
            return request.rangeStart == nil
                ? ScriptedOrigin.Step.broken(body, after: 150_000, tag: "\"v1\"")
                : [.ranged(request, body: body, tag: "\"v1\"")]
        }
        let fixture = try await ServiceFixture()
        let (response, bytes) = try await fixture.download(origin.url + "/a")
        #expect(bytes == body && response.effectiveURL.hasPrefix("\(origin.url)/b?signature="))
        #expect(origin.requests.last?.rangeStart == 150_000)
    }

    @Test(
        "B14 a redirect loop and a redirect to another scheme fail with a reason",
        arguments: ["/a", "file:///etc/passwd"]
    )
    func badRedirectsFail(_ target: String) async throws {
        let origin = try ScriptedOrigin { _ in [.response(302, headers: ["Location": target])] }
        let fixture = try await ServiceFixture()
        _ = try await fixture.add(TransferRequest(download: origin.url + "/a"))
        let event = await fixture.log.waitForEvents(1)[0]
        guard case .failed(let code, _) = event.outcome else { throw UnexpectedOutcome(event: event) }
        #expect(code == "badRedirect")
        #expect(origin.requests.count == (target == "/a" ? 21 : 1))
    }

    @Test("B14 credentials are not sent to the target of a redirect to another origin")
    func credentialsStayWithTheirOrigin() async throws {
        let target = try ScriptedOrigin { _ in [.response(body: [1])] }
        let origin = try ScriptedOrigin { _ in [.response(302, headers: ["Location": target.url + "/b"])] }
        let fixture = try await ServiceFixture()
        var request = TransferRequest(download: origin.url + "/a")
        request.headers = ["Authorization": "Bearer secret", "X-Key": "secret", "Accept": "image/*"]
        _ = try await fixture.add(request)
        await fixture.log.waitForEvents(1)
        #expect(origin.requests[0].headers["authorization"] == "Bearer secret")
        #expect(target.requests[0].headers["authorization"] == nil && target.requests[0].headers["x-key"] == nil)
        #expect(target.requests[0].headers["accept"] == "image/*")
    }

    @Test("B14 a server that is away for a while is tried again until it is there")
    func serversThatAreAwayAreTriedAgain() async throws {
        let origin = try ScriptedOrigin { request in request.connection < 4 ? [.reset] : [.response(body: [9])] }
        let fixture = try await ServiceFixture()
        #expect(try await fixture.download(origin.url + "/a").bytes == [9])
        #expect(origin.connectionCount == 4)
    }

    @Test("B14 a silent server is left after the request's time-out, and tried again")
    func silentServersTimeOut() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { request in request.connection == 1 ? [.wait(gate)] : [.response(body: [9])] }
        var session = TransferSessionConfiguration(identifier: "s")
        session.requestTimeout = .milliseconds(300)
        let fixture = try await ServiceFixture(session: session)
        #expect(try await fixture.download(origin.url + "/a").bytes == [9])
    }

    @Test("B14 status 503 is retried after its delay where the session asks for it")
    func unavailableIsRetriedOnRequest() async throws {
        let origin = try ScriptedOrigin { request in
            request.connection == 1 ? [.response(503, headers: ["Retry-After": "0"]), .close] : [.response(body: [9])]
        }
        var session = TransferSessionConfiguration(identifier: "s")
        session.retriesUnavailable = true
        let fixture = try await ServiceFixture(session: session)
        let (response, bytes) = try await fixture.download(origin.url + "/a")
        #expect(response.status == 200 && bytes == [9])
    }
}
