import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

@Suite("Downloader against nginx", .needsNginx, .timeLimit(.minutes(1)))
struct NginxTests {
    @Test("L02 a file is loaded byte for byte, with its metrics")
    func loads() async throws {
        let server = try await Nginx()
        let image = Fixture.image(length: 300_000)
        let url = try server.addFile(image, at: "a.png")
        let response = try await Downloader().fetch(url: url)
        #expect(response.status == 200)
        #expect(response.bytes == image)
        #expect(response.effectiveURL == url)
        #expect(response.headers["content-type"] == "image/png")
        #expect(response.metrics.bodyBytes == image.count)
        #expect(response.metrics.httpVersion == "HTTP/1.1")
        #expect(response.metrics.total >= response.metrics.firstByte)
        #expect(response.metrics.remoteAddress == "127.0.0.1:\(server.port)")
    }

    @Test("L02 100 callers of one URL share one request")
    @MainActor
    func shares() async throws {
        let server = try await Nginx()
        let image = Fixture.image(length: 200_000)
        let url = try server.addFile(image, at: "a.png")
        let downloader = Downloader()
        let request = try FetchRequest(url: url)
        // Each caller joins before the next one starts, and the download waits until all have joined.
        downloader.suspend()
        let callers = (0..<100).map { _ in Task.immediate { try await downloader.fetch(request) } }
        downloader.resume()
        for caller in callers { #expect(try await caller.value.bytes == image) }
        #expect(try await server.requestCount(for: "/a.png") == 1)
    }

    @Test("L24 a server that ends each connection after three requests answers all of 300", arguments: [false, true])
    func shortConnections(usesTLS: Bool) async throws {
        let server = try await Nginx(.init(server: "keepalive_requests 3;", usesTLS: usesTLS))
        let image = Fixture.image(length: 20_000)
        let plain = try server.addFile(image, at: "a.png")
        let url = server.secureURL.map { "\($0)/a.png" } ?? plain
        var configuration = Downloader.Configuration()
        configuration.certificateAuthorityFile = server.authorityFile
        (configuration.maximumConcurrent, configuration.maximumPerHost) = (32, 32)
        let downloader = Downloader(configuration)
        let requests = try (0..<300).map { try FetchRequest(url: "\(url)?\($0)") }
        await withTaskGroup(of: EideticError?.self) { group in
            for request in requests {
                group.addTask {
                    await failure { () async throws(EideticError) in
                        let response = try await downloader.fetch(request)
                        #expect(response.bytes == image)
                        #expect(response.metrics.httpVersion == (usesTLS ? "HTTP/2" : "HTTP/1.1"))
                    }
                }
            }
            for await error in group { #expect(error == nil) }
        }
    }

    @Test("L20 a connection is reused, with User-Agent, Accept and Accept-Encoding in each request")
    func keepsConnection() async throws {
        let server = try await Nginx()
        let downloader = Downloader()
        for name in ["a", "b", "c"] {
            let url = try server.addFile(Fixture.image(), at: "\(name).png")
            let response = try await downloader.fetch(url: url)
            #expect(response.metrics.isReusedConnection == (name != "a"))
        }
        let requests = try await server.requests()
        #expect(Set(requests.map(\.connection)).count == 1)
        #expect(requests[0].headers["user-agent"] == "eidetic/\(Version.current)")
        #expect(requests[0].headers["accept"] == "image/*,*/*;q=0.8")
        #expect(requests[0].headers["accept-encoding"] == "gzip, br, zstd")
        #expect(requests[0].headers["cookie"] == nil)
    }

    @Test("C20 a response with status 304 is returned")
    func notModified() async throws {
        let server = try await Nginx()
        let url = try server.addFile(Fixture.image(), at: "a.png")
        let downloader = Downloader()
        let tag = try #require(try await downloader.fetch(url: url).headers["ETag"])
        var request = try FetchRequest(url: url)
        request.headers["If-None-Match"] = tag
        let response = try await downloader.fetch(request)
        #expect(response.status == 304)
        #expect(response.bytes.isEmpty)
    }

    @Test("L20 a certificate is verified, with the configured authorities, unless the request allows any")
    func verifies() async throws {
        let server = try await Nginx(.init(usesTLS: true))
        try server.addFile(Fixture.image(), at: "a.png")
        let url = try #require(server.secureURL) + "/a.png"
        let error = await failure { () async throws(EideticError) in try await Downloader().fetch(url: url) }
        #expect(error?.code == .tlsFailure)
        #expect(error?.message.contains("localhost:") == true)

        var configuration = Downloader.Configuration()
        configuration.certificateAuthorityFile = server.authorityFile
        let response = try await Downloader(configuration).fetch(url: url)
        #expect(response.metrics.httpVersion == "HTTP/2")
        #expect(response.metrics.tls > .zero)

        var request = try FetchRequest(url: url)
        request.allowsInvalidCertificates = true
        let downloader = Downloader()
        #expect(try await downloader.fetch(request).status == 200)
        // The option applies to that request only: the open connection is not reused for others.
        #expect(
            await failure { () async throws(EideticError) in try await downloader.fetch(url: url) }?.code == .tlsFailure
        )
    }
}
