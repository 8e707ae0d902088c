import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

/// `RequestGrammar` names the sections of the standards.
@Suite("Requests as they are sent", .timeLimit(.minutes(2)))
struct SentRequestTests {
    /// The response of a hostile server: a redirect, or a body with validators and a cookie, which may be cut.
    private static func response(_ text: HostileText) -> [ScriptedOrigin.Step] {
        // Within a head these would end a line or the head.
        func field(_ name: String) -> [UInt8] {
            Array("\(name): ".utf8) + text.bytes(without: [0, 10, 13]) + Array("\r\n".utf8)
        }
        let end = Array("\r\n".utf8)
        if text.number(below: 3) == 0 {
            return [.send(Array("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n".utf8) + field("Location") + end)]
        }
        let tag =
            text.number(below: 2) == 0
            ? Array("ETag: \"".utf8) + field("")[2...].dropLast(2) + Array("\"\r\n".utf8) : field("ETag")
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n".utf8) + tag + field("Last-Modified")
        let cookie = Array("Set-Cookie: a=".utf8) + field("")[2...]
        let isCut = text.number(below: 3) == 0
        let body = Fixture.image().prefix(isCut ? 500 : 1_000)
        return [.send(head + cookie + end + body)] + (isCut ? [.close] : [])
    }

    @Test(
        "what is forbidden in a request is found",
        arguments: [
            ("GET /a HTTP/1.1", "Host: h\r\nX-A:  b\tc é", true), ("GET /a b HTTP/1.1", "Host: h", false),
            ("GET /é HTTP/1.1", "Host: h", false), ("GET /{ HTTP/1.1", "Host: h", false),
            ("GET /a HTTP/1.1", "X-A: b", false), ("GET /a HTTP/1.1", "Host: h\r\nX-A: b\rc", false),
            ("GET /a HTTP/1.1", "Host: h\r\nX-A: \u{1}", false), ("GET /a HTTP/1.1", "Host: h\r\nX A: b", false),
            ("GET /a HTTP/1.1", "Host: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked", false),
        ]
    )
    func grammar(line: String, fields: String, isValid: Bool) {
        #expect(RequestGrammar.faults(in: Array("\(line)\r\n\(fields)\r\n\r\n".utf8)).isEmpty == isValid)
    }

    @Test("L20 a load sends nothing that the standards forbid, whatever a program or a server put in", arguments: 1...3)
    func loads(seed: UInt64) async throws {
        let (text, answers) = (HostileText(seed: seed), HostileText(seed: seed + 100))
        let origin = try ScriptedOrigin { _ in Self.response(answers) }
        var configuration = Downloader.Configuration()
        // All hosts lead to the server.
        configuration.proxy = .url(origin.url)
        configuration.alwaysRetries = true
        configuration.retryBudget = 1_000
        configuration.retryPolicy.baseDelay = .zero
        let downloader = Downloader(configuration)
        func next() -> String { String(fieldBytes: text.bytes()) }
        for _ in 0..<200 {
            let host = text.number(below: 4) == 0 ? next() : "h.example"
            guard var request = try? FetchRequest(url: "http://\(host)/\(next())") else { continue }
            request.ignoresFailureList = true
            request.usesCookies = true
            request.requiresImage = false
            switch text.number(below: 8) {
            case 0: request.headers[next()] = next()
            case 1: request.headers["X-Own"] = next()
            case 2: request.headers["Content-Length"] = "7"
            case 3: request.headers["Transfer-Encoding"] = "chunked"
            case 4: request.credentials = .basic(user: next(), password: next())
            case 5: request.credentials = .digest(user: next(), password: next())
            case 6: request.credentials = .bearer(next())
            default: break
            }
            let stored = ["ETag", "Last-Modified"].map { HTTPHeaders.Field(name: $0, value: next()) }
            request.conditions = HTTPHeaders(Validators(stored).conditionalFields)
            _ = try? await downloader.fetch(request)
        }
        #expect(origin.faults == [])
        #expect(origin.requests.count > 50)
    }
}
