import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

@Suite("TLS", .needsNginx, .timeLimit(.minutes(1)))
struct SecureTests {
    private func makeConfiguration(server: Nginx) -> Downloader.Configuration {
        var configuration = Downloader.Configuration()
        configuration.certificateAuthorityFile = server.authorityFile
        return configuration
    }

    @Test("L20 thirty images are loaded over one HTTP/2 connection")
    func multiplexes() async throws {
        let server = try await Nginx(.init(usesTLS: true))
        let base = try #require(server.secureURL)
        var configuration = makeConfiguration(server: server)
        configuration.maximumConcurrent = 30
        let downloader = Downloader(configuration)
        try await withThrowingTaskGroup(of: FetchResponse.self) { group in
            for number in 0..<30 {
                try server.addFile(Fixture.image(length: 20_000 + number), at: "\(number).png")
                group.addTask { try await downloader.fetch(url: "\(base)/\(number).png") }
            }
            for try await response in group { #expect(response.metrics.httpVersion == "HTTP/2") }
        }
        let requests = try await server.requests()
        #expect(requests.count == 30)
        #expect(Set(requests.map(\.connection)).count == 1)
    }

    @Test("L20 a redirect from https to http is not followed")
    func downgrade() async throws {
        let plain = try ScriptedOrigin { _ in [.response(200, headers: [:], body: Fixture.image())] }
        let server = try await Nginx(.init(server: "location = /a { return 302 \(plain.url)/b; }", usesTLS: true))
        let url = try #require(server.secureURL) + "/a"
        let downloader = Downloader(makeConfiguration(server: server))
        let error = await failure { () async throws(EideticError) in try await downloader.fetch(url: url) }
        #expect(error?.code == .badRedirect)
        #expect(error?.message.contains("from https to http") == true)
        #expect(plain.requests.isEmpty)
    }

    @Test("L20 a host must present its pinned key")
    func pinnedKeys() async throws {
        let server = try await Nginx(.init(usesTLS: true))
        let base = try #require(server.secureURL)
        try server.addFile(Fixture.image(), at: "a.png")
        let command = """
            openssl s_client -connect \(base.dropFirst(8)) </dev/null 2>/dev/null | openssl x509 -pubkey -noout |
            openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | openssl base64 -A
            """
        let hash = try await Subprocess.run("sh", arguments: ["-c", command]).outputText
        #expect(hash.utf8.count == 44)
        var configuration = makeConfiguration(server: server)
        configuration.pinnedPublicKeys = [
            "localhost": ["sha256//" + String(repeating: "A", count: 43) + "=", "sha256//\(hash)"]
        ]
        #expect(try await Downloader(configuration).fetch(url: base + "/a.png").status == 200)
        for pinned in ["LocalHost", "localhost."] {
            configuration.pinnedPublicKeys = ["localhost": ["sha256//" + String(repeating: "A", count: 43) + "="]]
            configuration.pinnedPublicKeys[pinned] = ["sha256//" + String(repeating: "B", count: 43) + "="]
            for url in [base, base.replacing("localhost", with: "localhost.")] {
                let strict = Downloader(configuration)
                let error = await failure { () async throws(EideticError) in try await strict.fetch(url: url + "/a.png")
                }
                #expect(error?.code == .tlsFailure)
            }
        }
    }

    @Test("L20 a host name that the certificate does not cover is refused")
    func wrongName() async throws {
        let server = try await Nginx(.init(usesTLS: true))
        let base = try #require(server.secureURL)
        let port = try #require(base.split(separator: ":").last)
        try server.addFile(Fixture.image(), at: "a.png")
        let url = "https://127.0.0.2:\(port)/a.png"
        let downloader = Downloader(makeConfiguration(server: server))
        let error = await failure { () async throws(EideticError) in try await downloader.fetch(url: url) }
        #expect(error?.code == .tlsFailure)
        #expect(error?.message.contains("127.0.0.2") == true)
        #expect(try await server.requests().isEmpty)
        // The same server, certificate and authority; only the name is not verified.
        var request = try FetchRequest(url: url)
        request.allowsInvalidCertificates = true
        #expect(try await downloader.fetch(request).status == 200)
        #expect(try await downloader.fetch(url: base + "/a.png").status == 200)
    }
}
