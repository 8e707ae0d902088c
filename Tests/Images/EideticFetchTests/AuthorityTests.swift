import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

@Suite("Credentials, cookies and redirects", .timeLimit(.minutes(1)))
struct AuthorityTests {
    private func makeImageOrigin() throws -> ScriptedOrigin {
        try ScriptedOrigin { _ in [.response(200, headers: [:], body: Fixture.image())] }
    }

    @Test("L20 a program sees each redirect, and a download whose redirect it does not follow fails")
    func consent() async throws {
        let origin = try ScriptedOrigin { request in
            switch request.path {
            case "/a": [.response(302, headers: ["Location": "/b", "X-Own": "c"])]
            case "/b": [.response(301, headers: ["Location": "/c"])]
            default: [.response(200, headers: [:], body: Fixture.image())]
            }
        }
        let seen = Guarded<[FetchRedirect]>([])
        var configuration = Downloader.Configuration()
        configuration.followsRedirect = { redirect in
            seen.withLock { $0.append(redirect) }
            return true
        }
        #expect(try await Downloader(configuration).fetch(url: origin.url + "/a").bytes == Fixture.image())
        let redirects = seen.withLock { $0 }
        #expect(redirects.map(\.target) == [origin.url + "/b", origin.url + "/c"])
        #expect(redirects.map(\.precedingCount) == [0, 1] && redirects.first?.headers["X-Own"] == "c")
        configuration.followsRedirect = { $0.precedingCount == 0 }
        let error = await failure { [configuration] () async throws(EideticError) in
            try await Downloader(configuration).fetch(url: origin.url + "/a")
        }
        #expect(error?.code == .refused && error?.httpStatus == 301)
        #expect(origin.requests.map(\.path) == ["/a", "/b", "/c", "/a", "/b"])
    }

    @Test("L20 Basic and Bearer credentials are sent with the first request")
    func basic() async throws {
        let origin = try makeImageOrigin()
        var request = try FetchRequest(url: origin.url)
        request.credentials = .basic(user: "Aladdin", password: "open sesame")
        _ = try await Downloader().fetch(request)
        request.credentials = .bearer("token")
        _ = try await Downloader().fetch(request)
        let sent = origin.requests.map { $0.headers["authorization"] }
        #expect(sent == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Bearer token"])
    }

    @Test("L20 Digest credentials answer the server's challenge without sending the password")
    func digest() async throws {
        let origin = try ScriptedOrigin { request in
            let challenge = "Digest realm=\"here\", nonce=\"abc\", qop=\"auth\", algorithm=MD5"
            guard request.headers["authorization"] != nil else {
                return [.response(401, headers: ["WWW-Authenticate": challenge], body: Fixture.webPage)]
            }
            return [.response(200, headers: [:], body: Fixture.image())]
        }
        var request = try FetchRequest(url: origin.url)
        request.credentials = .digest(user: "me", password: "secret")
        #expect(try await Downloader().fetch(request).bytes == Fixture.image())
        let sent = try #require(origin.requests.last?.headers["authorization"])
        #expect(sent.hasPrefix("Digest username=\"me\""))
        #expect(!sent.contains("secret"))
    }

    @Test("L20 credentials that the server rejects fail with status 401")
    func wrong() async throws {
        let origin = try ScriptedOrigin { _ in [.response(401, headers: ["WWW-Authenticate": "Basic realm=\"here\""])] }
        var request = try FetchRequest(url: origin.url)
        request.credentials = .basic(user: "me", password: "wrong")
        let error = await failure { [request] () async throws(EideticError) in try await Downloader().fetch(request) }
        #expect(error?.httpStatus == 401)
    }

    @Test(
        "L20 basic credentials are encoded as RFC 7617 says",
        arguments: [
            ("Aladdin", "open sesame", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), ("a", "b", "YTpi"), ("a", "", "YTo="),
            ("", "", "Og=="), ("test", "123\u{a3}", "dGVzdDoxMjPCow=="),
        ]
    )
    func basicField(user: String, password: String, expected: String) {
        #expect(Credentials.basicField(user: user, password: password) == "Basic \(expected)")
    }

    @Test("L20 credentials and fields of the caller are not sent to another origin after a redirect")
    func redirect() async throws {
        let otherOrigin = try makeImageOrigin()
        let origin = try ScriptedOrigin { request in
            let target = request.path == "/first" ? "/second" : otherOrigin.url + "/third"
            return [.response(302, headers: ["Location": target])]
        }
        var request = try FetchRequest(url: origin.url + "/first")
        request.credentials = .basic(user: "me", password: "secret")
        request.headers = ["X-Api-Key": "secret", "Cookie": "id=secret", "Accept-Language": "de"]
        var configuration = Downloader.Configuration()
        configuration.headers = ["X-Token": "secret", "Cache-Control": "no-cache"]
        let response = try await Downloader(configuration).fetch(request)
        #expect(response.effectiveURL == otherOrigin.url + "/third")
        #expect(response.metrics.redirectCount == 2)
        #expect(origin.requests.map { $0.headers["x-api-key"] } == ["secret", "secret"])
        #expect(origin.requests.allSatisfy { $0.headers["authorization"]?.hasPrefix("Basic ") == true })
        let last = try #require(otherOrigin.requests.first?.headers)
        #expect(!last.values.contains { $0.contains("secret") })
        #expect(last["authorization"] == nil)
        #expect(last["accept-language"] == "de")
        #expect(last["cache-control"] == "no-cache")
        #expect(origin.requests.allSatisfy { $0.headers["x-token"] == "secret" })
    }

    @Test("L20 the configuration provides the credentials for each origin")
    func provider() async throws {
        let otherOrigin = try makeImageOrigin()
        let origin = try ScriptedOrigin { _ in [.response(302, headers: ["Location": otherOrigin.url + "/b"])] }
        var configuration = Downloader.Configuration()
        configuration.credentials = { .bearer("for-\($0.port)") }
        _ = try await Downloader(configuration).fetch(url: origin.url)
        #expect(origin.requests.first?.headers["authorization"] == "Bearer for-\(origin.port)")
        #expect(otherOrigin.requests.first?.headers["authorization"] == "Bearer for-\(otherOrigin.port)")
    }

    @Test("L20 cookies are neither stored nor sent, unless the request uses them")
    func cookies() async throws {
        let origin = try ScriptedOrigin { _ in
            [.response(200, headers: ["Set-Cookie": "id=7; Path=/"], body: Fixture.image())]
        }
        let downloader = Downloader()
        var request = try FetchRequest(url: origin.url)
        for usesCookies in [false, false, true, true, false] {
            request.usesCookies = usesCookies
            _ = try await downloader.fetch(request)
        }
        request.usesCookies = true
        downloader.removeCookies()
        _ = try await downloader.fetch(request)
        #expect(origin.requests.map { $0.headers["cookie"] } == [nil, nil, nil, "id=7", nil, nil])
    }

    @Test("L20 hooks change the request, the response and its body, in this order")
    func hooks() async throws {
        let key: UInt8 = 0x5a
        let origin = try ScriptedOrigin { request in
            let body = request.headers["x-signature"] == "ok" ? Fixture.image().map { $0 ^ key } : Fixture.image()
            return [.response(200, headers: ["X-Kind": "sealed"], body: body)]
        }
        var configuration = Downloader.Configuration()
        configuration.requestModifier = { request in
            var request = request
            request.headers["X-Signature"] = "ok"
            return request
        }
        configuration.responseModifier = { response in
            var response = response
            response.headers["X-Seen"] = response.headers["X-Kind"]
            return response
        }
        configuration.decryptor = { bytes, response in
            response.headers["X-Seen"] == "sealed" ? bytes.map { $0 ^ key } : bytes
        }
        let response = try await Downloader(configuration).fetch(url: origin.url)
        #expect(response.bytes == Fixture.image())
        configuration.decryptor = nil
        let plain = Downloader(configuration)
        let error = await failure { () async throws(EideticError) in try await plain.fetch(url: origin.url) }
        #expect(error?.code == .notAnImage)
    }

    @Test("L20 a configured proxy is used")
    func proxy() async throws {
        let proxy = try makeImageOrigin()
        var configuration = Downloader.Configuration()
        configuration.proxy = .url(proxy.url)
        _ = try await Downloader(configuration).fetch(url: "http://images.invalid/a.png")
        #expect(proxy.requests.first?.path == "http://images.invalid/a.png")
    }

    @Test("L20 refusesPrivateNetworks refuses addresses in every notation, names included")
    func privateNetworks() async throws {
        let origin = try makeImageOrigin()
        var configuration = Downloader.Configuration()
        configuration.refusesPrivateNetworks = true
        let downloader = Downloader(configuration)
        let hosts = [
            "127.0.0.1", "localhost", "0x7f000001", "2130706433", "017700000001", "127.1", "0.0.0.0", "[::1]",
            "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]",
        ]
        for host in hosts {
            let error = await failure { () async throws(EideticError) in
                try await downloader.fetch(url: "http://\(host):\(origin.port)/a.png")
            }
            #expect(error?.code == .refused, "\(host): \(String(describing: error))")
        }
        #expect(origin.connectionCount == 0)
    }

    @Test(
        "L20 addresses for special purposes are not public",
        arguments: [
            ([127, 0, 0, 1], false), ([10, 1, 2, 3], false), ([172, 31, 255, 255], false), ([172, 32, 0, 0], true),
            ([192, 168, 0, 1], false), ([169, 254, 169, 254], false), ([100, 64, 0, 1], false), ([0, 0, 0, 0], false),
            ([255, 255, 255, 255], false), ([8, 8, 8, 8], true), ([224, 0, 0, 1], false),
            ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], false),
            ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1], false),
            ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 8, 8, 8, 8], true),
            ([0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1], false),
            ([0x20, 0x02, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], false),
            ([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], false),
            ([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], false),
            ([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], false),
            ([0x20, 0x01, 0x48, 0x60, 0x48, 0x60, 0, 0, 0, 0, 0, 0, 0, 0, 0x88, 0x88], true),
        ] as [([UInt8], Bool)]
    )
    func addresses(_ bytes: [UInt8], isPublic: Bool) {
        #expect(NetworkAddress(bytes: bytes).isPublic == isPublic)
    }
}
