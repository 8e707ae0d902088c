import EideticCore
import EideticHTTP
import EideticTestSupport
import Testing

/// Tests of freshness with the responses of a real server.
@Suite("Freshness against nginx", .needsNginx, .timeLimit(.minutes(1)))
struct NginxFreshnessTests {
    private struct Response: Sendable {
        let status: Int
        let fields: [HTTPField]
        let body: [UInt8]
        let requested: Timestamp
        let received: Timestamp

        var freshness: ResponseFreshness {
            ResponseFreshness(.init(status: status, fields: fields, requestTime: requested, responseTime: received))
        }

        func combinedValue(of name: String) -> String? { fields.combinedValue(of: name) }
    }

    private static let server = """
        location /week/ { expires 7d; }
        location /past/ { expires epoch; }
        location /never/ { add_header Cache-Control "no-store"; }
        location /often/ { add_header Cache-Control "max-age=60, stale-while-revalidate=30, stale-if-error=300"; }
        location /vary/ { add_header Vary Accept; add_header Cache-Control "max-age=60"; }
        location /plain/ { }
        location /gone/ { return 410; }
        """

    private let pool = WorkPool(name: "freshness", maximumThreadCount: 1)

    private func server(_ paths: String...) async throws -> Nginx {
        let nginx = try await Nginx(.init(server: Self.server))
        for path in paths { try nginx.addFile(Array("an image".utf8), at: path) }
        return nginx
    }

    private func get(_ path: String, from nginx: Nginx, fields requestFields: [HTTPField] = []) async throws -> Response
    {
        let lines = requestFields.map { "\($0.name): \($0.value)\r\n" }.joined()
        let time = SystemTime()
        let requested = time.now
        let bytes = try await pool.run { [port = nginx.port] _ throws(EideticError) in
            try LoopbackPort.sendRequest(
                "GET \(path) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(lines)\r\n",
                port: port
            )
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let end = text.range(of: "\r\n\r\n")
        let headerLines = text[..<end.lower].split(separator: "\r\n").map(String.init)
        let status = try #require(headerLines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        return Response(
            status: status,
            fields: headerLines.dropFirst().flatMap { fields($0) }.map { HTTPField(name: $0.name, value: $0.value) },
            body: Array(text[end.upper...].utf8),
            requested: requested,
            received: time.now
        )
    }

    @Test("C20 nginx's expires 7d is a freshness lifetime of a week")
    func week() async throws {
        let nginx = try await server("week/a.png")
        let answer = try await get("/week/a.png", from: nginx)
        let freshness = answer.freshness
        #expect(answer.status == 200)
        #expect(freshness.freshnessLifetime == .seconds(604_800))
        // The field Date has no fractions of a second.
        #expect(freshness.correctedInitialAge <= answer.received - answer.requested + .seconds(1))
        #expect(freshness.reuse(at: answer.received) == .fresh)
        // Expires alone has the same meaning.
        let withoutControl = answer.fields.filter { $0.name != "Cache-Control" }
        let response = ResponseFreshness.Response(
            fields: withoutControl,
            requestTime: answer.requested,
            responseTime: answer.received
        )
        #expect(ResponseFreshness(response).freshnessLifetime == .seconds(604_800))
    }

    @Test("C20 nginx's expires epoch is stale at once, and no-store is not stored")
    func stale() async throws {
        let nginx = try await server("past/a.png", "never/a.png")
        let past = try await get("/past/a.png", from: nginx)
        #expect(past.freshness.reuse(at: past.received) == .afterValidation)
        #expect(Storability.isStorable(status: past.status, fields: past.fields))
        let never = try await get("/never/a.png", from: nginx)
        #expect(!Storability.isStorable(status: never.status, fields: never.fields))
    }

    @Test("C20 stale-while-revalidate and stale-if-error from nginx are honoured")
    func staleUse() async throws {
        let nginx = try await server("often/a.png")
        let answer = try await get("/often/a.png", from: nginx)
        let freshness = answer.freshness
        #expect(freshness.reuse(at: answer.received + .seconds(70)) == .staleWhileRevalidating)
        #expect(freshness.reuse(at: answer.received + .seconds(100)) == .afterValidation)
        #expect(freshness.allowsStaleAfterError(at: answer.received + .seconds(200), status: 502))
        #expect(!freshness.allowsStaleAfterError(at: answer.received + .seconds(400), status: 502))
    }

    @Test(
        "C20 a response without explicit freshness has a heuristic lifetime, and is validated by a 304 without a body"
    )
    func validates() async throws {
        let nginx = try await server("plain/a.png")
        let answer = try await get("/plain/a.png", from: nginx)
        let validators = Validators(answer.fields)
        #expect(validators.entityTag?.isWeak == false)
        #expect(answer.freshness.freshnessLifetime < .seconds(60))
        let second = try await get("/plain/a.png", from: nginx, fields: validators.conditionalFields)
        #expect(second.status == 304)
        #expect(second.body.isEmpty)
        #expect(NotModified.confirms(second.fields, stored: answer.fields))
        let merged = NotModified.merge(second.fields, into: Storability.storableFields(of: answer.fields))
        #expect(merged.combinedValue(of: "Content-Length") == "8")
        #expect(merged.combinedValue(of: "Content-Type") == "image/png")
        #expect(merged.combinedValue(of: "Date") == second.combinedValue(of: "Date"))
        #expect(merged.values(of: "ETag").count == 1)
        #expect(merged.combinedValue(of: "Connection") == nil)
    }

    @Test("C20 a conditional request for a changed file returns the new bytes")
    func changed() async throws {
        let nginx = try await server("plain/a.png")
        let answer = try await get("/plain/a.png", from: nginx)
        try nginx.addFile(Array("a newer image".utf8), at: "plain/a.png")
        let second = try await get("/plain/a.png", from: nginx, fields: Validators(answer.fields).conditionalFields)
        #expect(second.status == 200)
        #expect(second.body == Array("a newer image".utf8))
        #expect(!NotModified.confirms(second.fields, stored: answer.fields))
    }

    @Test("C20 the Vary field of a response from nginx separates requests")
    func varies() async throws {
        let nginx = try await server("vary/a.png")
        let request = [HTTPField(name: "Accept", value: "image/webp")]
        let answer = try await get("/vary/a.png", from: nginx, fields: request)
        let vary = Vary(answer.fields)
        #expect(vary == .fields(["accept"]))
        let other = [HTTPField(name: "Accept", value: "image/png")]
        #expect(vary.selection(from: request) != vary.selection(from: other))
    }

    @Test("C20 responses 404 and 410 may be stored")
    func gone() async throws {
        let nginx = try await server()
        for (path, status) in [("/gone/a.png", 410), ("/plain/none.png", 404)] {
            let answer = try await get(path, from: nginx)
            #expect(answer.status == status)
            #expect(Storability.isStorable(status: answer.status, fields: answer.fields))
            #expect(answer.freshness.reuse(at: answer.received) == .afterValidation)
        }
    }
}

extension String {
    /// Returns the bounds of the first occurrence of `text`, or twice the end if there is none.
    fileprivate func range(of text: String) -> (lower: Index, upper: Index) {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return (start, index(start, offsetBy: text.count)) }
            start = index(after: start)
        }
        return (endIndex, endIndex)
    }
}
