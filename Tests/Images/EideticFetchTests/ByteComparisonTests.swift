import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

@Suite("Comparison of bytes")
struct ByteComparisonTests {
    private let composed = "caf\u{e9}"
    private let decomposed = "cafe\u{301}"

    @Test("C18 credentials that differ in their bytes are different, although Swift takes them for equal")
    func credentials() {
        #expect(composed == decomposed)
        #expect(Credentials.bearer(composed) != .bearer(decomposed))
        #expect(Credentials.basic(user: composed, password: "1") != .basic(user: decomposed, password: "1"))
        #expect(Credentials.digest(user: "1", password: composed) != .digest(user: "1", password: decomposed))
        #expect(Credentials.basic(user: "1", password: "2") != .digest(user: "1", password: "2"))
        #expect(Credentials.basic(user: composed, password: "2") == .basic(user: composed, password: "2"))
    }

    @Test("C18 header fields are compared by bytes; case and order of names do not matter")
    func headers() {
        let headers: HTTPHeaders = ["X-User": composed, "Accept": "a"]
        #expect(headers != ["X-User": decomposed, "Accept": "a"])
        #expect(headers == ["accept": "a", "x-user": composed])
        #expect(headers != ["X-User": composed])
        #expect(HTTPHeaders.Field(name: "X", value: "\u{212b}") != .init(name: "X", value: "A\u{30a}"))
        let repeated: HTTPHeaders = ["A": "1", "A": "2"]
        #expect(repeated != ["A": "2", "A": "1"])
        #expect(repeated.hashValue == HTTPHeaders(repeated.fields).hashValue)
    }

    @Test("C18 two users whose tokens are canonically equivalent do not share a download", .timeLimit(.minutes(1)))
    func downloads() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { _ in [.wait(gate), .response(200, body: Fixture.image())] }
        let downloader = Downloader()
        var requests = [try FetchRequest(url: origin.url), try FetchRequest(url: origin.url)]
        requests[0].credentials = .bearer(composed)
        requests[1].credentials = .bearer(decomposed)
        let tasks = requests.map { request in Task { try await downloader.fetch(request).status } }
        await origin.waitForRequests(count: 2)
        gate.open()
        for task in tasks { #expect(try await task.value == 200) }
        let sent = Set(origin.requests.compactMap { $0.headers["authorization"] }.map { Array($0.utf8) })
        #expect(sent.count == 2)
    }
}
