import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// The network options of `eidetic load`.
@Suite("eidetic load, the network", .needsNginx, .timeLimit(.minutes(2)))
struct LoadNetworkTests {
    /// One line of `--metrics`.
    private struct Line: Decodable {
        let url: String
        let status: Int?
        let error: String?
        var http: String?
        var total_ms: Double?
        var body_bytes: Int?
        var attempts: Int?
        var reused: Bool?
    }

    private static let rules = """
        location = /key.png { if ($http_x_key != "k") { return 403; } }
        location = /user.png { if ($http_authorization != "Basic bWU6c2VjcmV0") { return 401; } }
        location /slow/ { limit_rate 100k; }
        """

    private let directory: TemporaryDirectory
    private let server: Nginx

    init() async throws {
        directory = try TemporaryDirectory(named: "load")
        server = try await Nginx(.init(server: Self.rules, usesTLS: true))
    }

    private func load(_ words: [String], cache: String = "cache") async throws -> Subprocess.Result {
        let words = ["load", "--json", "--cache-dir", directory.path(of: cache)] + words
        return try await Subprocess.run(EideticProgram.path, arguments: words, directory: directory.path)
    }

    @Test("L20 --header and --user are sent, and images loaded with them are cached separately")
    func identity() async throws {
        for name in ["key.png", "user.png"] { try server.addFile(try TestImages.encoded(as: .png), at: name) }
        let (key, user) = ("\(server.url)/key.png", "\(server.url)/user.png")
        for source in ["network", "disk"] {
            let first = try await load(["--header", "Accept-Language: de", "--header", "X-Key: k", key])
            #expect(try first.lines(LoadLine.self).map(\.source) == [source], "\(first.errorText)")
            #expect(try await load(["--user", "me:secret", user]).lines(LoadLine.self).map(\.source) == [source])
        }
        let without = try await load([key, user])
        #expect(without.status == .exited(1))
        #expect(try without.lines(LoadLine.self).allSatisfy { $0.error?.hasPrefix("httpStatus: ") == true })
    }

    @Test("L20 --max-redirects limits the redirects in a row", arguments: [(0, false), (1, false), (2, true)])
    func redirects(limit: Int, isFollowed: Bool) async throws {
        let rules = "location = /a { return 302 /b; } location = /b { return 302 /c.png; }"
        let other = try await Nginx(.init(server: rules))
        try other.addFile(try TestImages.encoded(as: .png), at: "c.png")
        let result = try await load(["--max-redirects", "\(limit)", "\(other.url)/a"])
        #expect(result.status == .exited(isFollowed ? 0 : 1), "\(result.errorText)")
    }

    @Test(
        "L20 --wait-for-network waits in a network without routes, and says so",
        .enabled(if: geteuid() == 0, "skipped: a network of its own needs root")
    )
    func waitForNetwork() async throws {
        let words = [
            "load", "--cache-dir", directory.path(of: "cache"), "--wait-for-network", "http://192.0.2.1/a.png",
        ]
        let process = try Subprocess("unshare", arguments: ["--net", EideticProgram.path] + words)
        try await eventually("the line") {
            process.errorsSoFar.contains("http://192.0.2.1/a.png waits for the network")
        }
        process.kill(SIGINT)
        #expect(await process.waitUntilExit().status == .exited(130))
        let without = words.filter { $0 != "--wait-for-network" }
        let failed = try await Subprocess.run("unshare", arguments: ["--net", EideticProgram.path] + without)
        #expect(failed.status == .exited(1))
    }

    @Test("L20 --cacert trusts an authority, --insecure every certificate; otherwise the system decides")
    func certificates() async throws {
        try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        let url = try #require(server.secureURL) + "/a.png"
        let file = try #require(server.authorityFile)
        #expect(try await load(["--cacert", file, url], cache: "one").status == .exited(0))
        #expect(try await load(["--insecure", url], cache: "two").status == .exited(0))
        // An image from an unverified server is not used for requests that verify the certificate.
        for cache in ["two", "three"] {
            let refused = try await load([url], cache: cache)
            #expect(try refused.lines(LoadLine.self).first?.error?.hasPrefix("tlsFailure: ") == true)
        }
    }

    @Test("L20 --limit-rate is respected, and --metrics contains the elapsed time")
    func rate() async throws {
        // Decoders ignore bytes after the end of an image.
        let jpeg = try TestImages.encoded(as: .jpeg) + [UInt8](repeating: 0, count: 200_000)
        let url = try server.addFile(jpeg, at: "a.jpg")
        let result = try await load(["--limit-rate", "\(jpeg.count)", "--metrics", "metrics", url])
        #expect(result.status == .exited(0), "\(result.errorText)")
        let line = try #require(try await metricsLines().first)
        #expect(line.url == url && line.status == 200 && line.error == nil && line.body_bytes == jpeg.count)
        #expect(line.http == "HTTP/1.1" && line.attempts == 1 && line.reused == false)
        // A second, less the permitted burst of a tenth and a last chunk of 16 KB.
        #expect(try #require(line.total_ms) > 500)
    }

    private func metricsLines() async throws -> [Line] {
        try await Subprocess.run("cat", arguments: [directory.path(of: "metrics")]).lines(Line.self)
    }

    @Test("L07 --retry repeats requests that fail temporarily; without it there is one request")
    func retry() async throws {
        let png = try TestImages.encoded(as: .png)
        let origin = try ScriptedOrigin { [self] request in
            let isThere = (try? directory.contents(of: "requested")) != nil
            _ = try? directory.write([], to: "requested")
            return isThere ? [.response(200, headers: [:], body: png)] : [.response(503)]
        }
        let once = try await load([origin.url])
        #expect(once.status == .exited(1))
        #expect(origin.requests.count == 1)
        try FileSystem().unlink(directory.path(of: "requested"))
        let result = try await load(["--retry", "3", "--metrics", "metrics", origin.url])
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(try await metricsLines().map(\.attempts) == [2])
    }

    @Test("L20 the Accept header lists the formats that can be decoded")
    func accept() async throws {
        let png = try TestImages.encoded(as: .png),
            origin = try ScriptedOrigin { _ in [.response(200, headers: [:], body: png)] }
        #expect(try await load([origin.url]).status == .exited(0))
        #expect(origin.requests.first?.headers["accept"]?.contains("image/png,") == true)
        _ = try await Subprocess.run(
            EideticProgram.path,
            arguments: ["prefetch", "--cache-dir", directory.path(of: "other"), origin.url],
            directory: directory.path
        )
        #expect(origin.requests.last?.headers["accept"]?.contains("image/png,") == true && origin.requests.count == 2)
    }

    @Test("L10 --progressive keeps --metrics")
    func progressiveMetrics() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        #expect(try await load(["--progressive", "--metrics", "metrics", url]).status == .exited(0))
        #expect(try await metricsLines().map(\.status) == [200])
    }

    @Test("L11 a failed refresh is reported, and the cached image is delivered")
    func failedRefresh() async throws {
        let url = try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        #expect(try await load([url]).status == .exited(0))
        await server.stop()
        let result = try await load(["--option", "refreshCached", "--explain", url])
        #expect(result.status == .exited(1))
        #expect(result.errorText.contains("\(url) was not refreshed: "))
        #expect(result.outputText.contains("failed: connectionRefused"))
        #expect(try result.lines(LoadLine.self).map(\.source) == ["disk"])
    }

    @Test("L05 --lifo loads the last URL first")
    func lastInFirstOut() async throws {
        let image = try TestImages.encoded(as: .jpeg, width: 640, height: 480)
        let urls = try (1...14).map { try server.addFile(image, at: "\($0).jpg") }
        #expect(try await load(["--lifo", "--concurrency", "1"] + urls).status == .exited(0))
        let paths = try await server.requests().map(\.path)
        #expect(paths == ([1] + (2...14).reversed()).map { "/\($0).jpg" })
    }

    @Test("L09 --offline loads from the cache and sends no requests")
    func offline() async throws {
        let urls = try ["a.png", "b.png"].map { try server.addFile(try TestImages.encoded(as: .png), at: $0) }
        #expect(try await load([urls[0]]).status == .exited(0))
        let result = try await load(["--offline"] + urls)
        #expect(result.status == .exited(1))
        let lines = Dictionary(uniqueKeysWithValues: try result.lines(LoadLine.self).map { ($0.url, $0) })
        #expect(lines[urls[0]]?.source == "disk")
        #expect(lines[urls[1]]?.error?.hasPrefix("offline: ") == true)
        #expect(try await server.requests().count == 1)
    }

    @Test("L20 --proxy sets the proxy")
    func proxy() async throws {
        // A server that accepts absolute URLs in requests acts as a proxy.
        try server.addFile(try TestImages.encoded(as: .png), at: "a.png")
        let url = "http://images.invalid/a.png"
        #expect(try await load(["--proxy", server.url, url], cache: "one").status == .exited(0))
        let direct = try await load(["--proxy", "none", url], cache: "two")
        #expect(try direct.lines(LoadLine.self).first?.error?.hasPrefix("hostNotFound: ") == true)
    }

    @Test(
        "invalid values are refused",
        arguments: [
            (["--retry", "many"], "for --retry: expected a number from 0 to 20"),
            (["--header", "nothing"], "for --header: expected a field"),
            (["--header", "Bad Name: 1"], "for --header: expected a field"),
            (["--user", ":me"], "for --user: expected a name and a password"),
            (["--limit-rate", "0"], "for --limit-rate: expected a number of bytes per second"),
            (["--proxy", "host"], "for --proxy: expected a URL"),
        ]
    )
    func refuses(_ words: [String], message: String) async throws {
        let result = try await load(words + [server.url])
        #expect(result.status == .exited(2))
        #expect(result.errorText.contains(message), "\(result.errorText)")
    }
}
