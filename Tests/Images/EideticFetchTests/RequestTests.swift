import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

@Suite("Requests")
struct RequestTests {
    @Test(
        "L20 an invalid URL is refused with a reason",
        arguments: [
            ("", "no URL"), ("nonsense", "Bad scheme"), ("ftp://example.org/a.png", "\"ftp\""),
            ("file:///etc/passwd", "\"file\""), ("http://", "no URL"), ("http://a b/", "no URL"),
            ("http://[::1", "no URL"), ("http://example.org:99999/", "no URL"), ("javascript:alert(1)", "no URL"),
            ("http://example.org/\u{0}", "NUL"), ("http://℀.example/", "no URL"),
            ("http://" + String(repeating: "a", count: 70_000), "longer"),
        ]
    )
    func refuses(_ text: String, reason: String) async {
        let failure = await #expect(throws: EideticError.self) { try await Downloader().fetch(FetchRequest(text)) }
        #expect(failure?.code == .invalidURL)
        do throws(EideticError) {
            let request = try FetchRequest(url: text)
            Issue.record("\(text) was accepted as \(request.url)")
        } catch {
            #expect(error.code == .invalidURL)
            #expect(error.message.contains(reason), "\(error.message)")
        }
    }

    @Test(
        "L02 equivalent URLs have the same normal form",
        arguments: [
            ("HTTP://Example.ORG", "http://example.org/"), (" http://example.org/a \n", "http://example.org/a"),
            ("http://example.org/a#part", "http://example.org/a"),
            ("http://user:secret@example.org/a", "http://example.org/a"),
            ("http://example.org/ä b.png", "http://example.org/%C3%A4%20b.png"),
            ("http://example.org./a", "http://example.org/a"),
            ("http://BÜCHER.example/", "http://xn--bcher-kva.example/"),
            ("http://bücher.example./", "http://xn--bcher-kva.example/"),
            ("http://😀.example/", "http://xn--e28h.example/"), ("http://i❤️.example/", "http://xn--i-7iq.example/"),
            ("http://straße.example/", "http://xn--strae-oqa.example/"),
            ("http://a_é.example/", "http://xn--a_-cja.example/"),
        ]
    )
    func normalises(_ text: String, into normal: String) throws {
        #expect(try FetchRequest(url: text).url == normal)
    }

    /// The last ones are not encoded (URL Standard, 1.3, "userinfo percent-encode set").
    @Test(
        "L20 user and password of a URL become credentials and are removed from the URL",
        arguments: [
            ("p%40ss", "p@ss"), ("p@ss", "p@ss"), ("p ss", "p ss"), ("p\"<>^`{|}ss", "p\"<>^`{|}ss"), ("pé", "pé"),
            ("p[;=:]", "p[;=:]"), ("p%20%", "p %"),
        ]
    )
    func userInformation(text: String, password: String) throws {
        let request = try FetchRequest(url: "http://me:\(text)@example.org/a")
        #expect(request.url == "http://example.org/a")
        #expect(request.credentials == .basic(user: "me", password: password))
        #expect(request != (try FetchRequest(url: "http://example.org/a")))
    }

    @Test("L20 names of fields are case-insensitive, and the order of different names does not matter")
    func headers() {
        var headers: HTTPHeaders = ["Accept": "a", "X-One": "1"]
        headers.add("2", for: "x-one")
        #expect(headers["X-ONE"] == "1, 2")
        #expect(headers.values(for: "x-One") == ["1", "2"])
        #expect(headers == ["x-one": "1", "ACCEPT": "a", "X-one": "2"])
        #expect(headers.hashValue == (["x-one": "1", "ACCEPT": "a", "X-one": "2"] as HTTPHeaders).hashValue)
        #expect(headers != ["X-One": "2", "Accept": "a", "x-one": "1"])
        headers["x-one"] = nil
        #expect(headers == ["Accept": "a"])
    }

    @Test(
        "L20 a field with a control character is refused",
        arguments: ["a\r\nX-Evil: 1", "a\nb", "\u{0}", "\u{1}", "\u{7f}"]
    )
    func injection(_ value: String) async throws {
        let origin = try ScriptedOrigin { _ in [.response(200, headers: [:], body: Fixture.image())] }
        var request = try FetchRequest(url: origin.url)
        request.headers["X-Value"] = value
        let error = await failure { [request] () async throws(EideticError) in try await Downloader().fetch(request) }
        #expect(error?.code == .invalidArgument)
        #expect(origin.requests.isEmpty)
    }

    @Test(
        "L20 credentials and configured fields with a control character are refused",
        arguments: ["\r\nX-Evil: 1", "\n", "\u{0}", "\u{1b}"]
    )
    func injectionElsewhere(_ injectedText: String) async throws {
        let origin = try ScriptedOrigin { _ in [.response(200, headers: [:], body: Fixture.image())] }
        let credentials: [Credentials] = [
            .bearer("a" + injectedText), .digest(user: injectedText, password: "b"),
            .basic(user: "a", password: injectedText),
        ]
        var configurations = (0..<3).map { _ in Downloader.Configuration() }
        configurations[0].userAgent += injectedText
        configurations[1].acceptedTypes = ["image/png" + injectedText]
        configurations[2].credentials = { _ in credentials[0] }
        for configuration in configurations {
            let error = await failure { () async throws(EideticError) in
                try await Downloader(configuration).fetch(url: origin.url)
            }
            #expect(error?.code == .invalidArgument)
        }
        for who in credentials {
            var request = try FetchRequest(url: origin.url)
            request.credentials = who
            let error = await failure { [request] () async throws(EideticError) in
                try await Downloader().fetch(request)
            }
            #expect(error?.code == .invalidArgument)
            #expect(error?.message.contains("Evil") == false)
        }
        #expect(origin.requests.isEmpty)
    }

    @Test("L04 a time-out of zero or less is refused", arguments: [Duration.zero, .seconds(-1)])
    func timeouts(_ timeout: Duration) async throws {
        var request = try FetchRequest(url: "http://127.0.0.1:1/")
        request.timeout = timeout
        let error = await failure { [request] () async throws(EideticError) in try await Downloader().fetch(request) }
        #expect(error?.code == .invalidArgument)
    }

    @Test("L02 1,000 callers with twenty different headers make twenty requests, and no user gets another's response")
    @MainActor
    func identities() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { request in
            let (user, language) = (request.headers["authorization"] ?? "", request.headers["accept-language"] ?? "")
            return [
                .wait(gate),
                .response(200, headers: [:], body: Fixture.image(length: 10) + Array((user + language).utf8)),
            ]
        }
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrent = 20
        let downloader = Downloader(configuration)
        // Each caller joins before the next one starts, and all before the first response.
        let tasks = try (0..<1_000).map { number in
            var request = try FetchRequest(url: origin.url + "/a.png")
            let (user, language) = ("user-\(number % 10)", number % 20 < 10 ? "de" : "fr")
            // Another order of the fields is an equal request.
            let isFirst = number % 40 < 20
            let fields = [("Authorization", "Bearer \(user)"), ("Accept-Language", language)]
            for (name, value) in isFirst ? fields : fields.reversed() { request.headers.add(value, for: name) }
            let expected = Fixture.image(length: 10) + Array("Bearer \(user)\(language)".utf8)
            return Task.immediate { [request] in try await downloader.fetch(request).bytes == expected }
        }
        #expect(downloader.jobCount == 20)
        gate.open()
        for task in tasks { #expect(try await task.value) }
        #expect(origin.requests.count == 20)
    }

    @Test("L20 requests with different credentials never share a download")
    @MainActor
    func users() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { request in
            [
                .wait(gate),
                .response(
                    200,
                    headers: [:],
                    body: Fixture.image(length: 10) + Array((request.headers["authorization"] ?? "").utf8)
                ),
            ]
        }
        let downloader = Downloader()
        let tasks = try [Credentials.bearer("a"), .bearer("b"), .basic(user: "a", password: "b"), nil].map { who in
            var request = try FetchRequest(url: origin.url)
            request.credentials = who
            return Task.immediate { [request] in try await downloader.fetch(request).bytes }
        }
        #expect(downloader.jobCount == 4)
        gate.open()
        var bodies: Set<[UInt8]> = []
        for task in tasks { bodies.insert(try await task.value) }
        #expect(bodies.count == 4)
        #expect(bodies.contains(Fixture.image(length: 10)))
    }
}
