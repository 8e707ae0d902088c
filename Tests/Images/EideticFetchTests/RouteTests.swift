import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Glibc
import Testing

/// Connections over IPv6 and proxies, and into private networks.
@Suite("Routes to a server", .timeLimit(.minutes(1)))
struct RouteTests {
    @Test(
        "L20 a server with an IPv6 address is supported, with brackets in its origin",
        .enabled(if: ListeningAddress.hasIPv6, "this machine has no IPv6")
    )
    func ipv6() async throws {
        let origin = try ScriptedOrigin(on: .loopback6) { _ in [.response(200, headers: [:], body: Fixture.image())] }
        let response = try await Downloader().fetch(url: origin.url)
        #expect(response.bytes == Fixture.image())
        #expect(response.metrics.remoteAddress == "[::1]:\(origin.port)")
        #expect(origin.requests.first?.headers["host"] == "[::1]:\(origin.port)")
        var configuration = Downloader.Configuration()
        configuration.addressFamily = .ipv4
        let ipv4 = Downloader(configuration)
        #expect(await failure { () async throws(EideticError) in try await ipv4.fetch(url: origin.url) } != nil)
        #expect(origin.requests.count == 1)
        #expect(
            await failure { () async throws(EideticError) in try await Downloader().fetch(url: "http://[::1]:1/") }?
                .code
                == .connectionRefused
        )
    }

    // MARK: Proxies

    /// Starts a proxy with a user and a password.
    private func startProxy(in directory: TemporaryDirectory) async throws -> (url: String, process: Subprocess) {
        for _ in 0..<5 {
            let port = try LoopbackPort.unused()
            let lines = [
                "Port \(port)", "Listen 127.0.0.1", "Timeout 60", "MaxClients 20", "LogLevel Info",
                "BasicAuth proxyuser proxypass", "ViaProxyName \"here\"",
            ]
            let file = try directory.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: "proxy.conf")
            let process = try Subprocess("tinyproxy", arguments: ["-d", "-c", file])
            if await process.waitForOutput("Accepting connections") {
                return ("http://proxyuser:proxypass@127.0.0.1:\(port)", process)
            }
        }
        throw EideticError(.refused, message: "tinyproxy did not start")
    }

    @Test(
        "L20 http is forwarded by a proxy, https is tunnelled",
        .needsNginx,
        .needsTinyproxy
    )
    func throughProxy() async throws {
        let directory = try TemporaryDirectory(named: "proxy")
        let server = try await Nginx(.init(usesTLS: true))
        let secure = try #require(server.secureURL)
        let plain = try server.addFile(Fixture.image(length: 100_000), at: "a.png")
        let (url, process) = try await startProxy(in: directory)
        var configuration = Downloader.Configuration()
        configuration.proxy = .url(url)
        configuration.certificateAuthorityFile = server.authorityFile
        let downloader = Downloader(configuration)
        #expect(try await downloader.fetch(url: plain).headers["Via"]?.contains("here") == true)
        let response = try await downloader.fetch(url: secure + "/a.png")
        #expect(response.bytes == Fixture.image(length: 100_000))
        #expect(response.headers["Via"] == nil)
        #expect(response.metrics.httpVersion == "HTTP/2")
        let log = process.outputSoFar + process.errorsSoFar
        #expect(log.contains("CONNECT localhost:"))
        // The password is sent to the proxy only.
        #expect(try await server.requests().allSatisfy { $0.headers["authorization"] == nil })
        process.kill()
        _ = await process.waitUntilExit()
        let error = await failure { () async throws(EideticError) in
            try await Downloader(configuration).fetch(url: plain)
        }
        #expect(error?.code == .connectionRefused)
    }

    @Test("L20 a refusal by the proxy is not a response of the server", .needsNginx, .needsTinyproxy)
    func refusedByProxy() async throws {
        let directory = try TemporaryDirectory(named: "proxy")
        let server = try await Nginx(.init(usesTLS: true))
        let secure = try #require(server.secureURL)
        try server.addFile(Fixture.image(), at: "a.png")
        let (url, process) = try await startProxy(in: directory)
        defer { process.kill() }
        var configuration = Downloader.Configuration()
        configuration.proxy = .url(url.replacing("proxypass", with: "wrong"))
        configuration.certificateAuthorityFile = server.authorityFile
        let downloader = Downloader(configuration)
        for target in [server.url + "/a.png", secure + "/a.png"] {
            let error = await failure { () async throws(EideticError) in try await downloader.fetch(url: target) }
            // Without a tunnel the proxy's response is like any other; for a refused tunnel only the message has the
            // status.
            let isRefused = error?.code == .connectionRefused && error?.httpStatus == nil
            let isAnswer = error?.code == .httpStatus && [401, 407].contains(error?.httpStatus)
            #expect(target.hasPrefix("https") ? isRefused : isAnswer, "\(String(describing: error))")
        }
        #expect(try await server.requests().isEmpty)
    }

    @Test(
        "L04 a proxy that cannot be reached is named, without its password",
        arguments: ["http", "socks5h"],
        ["http://example.org/a.png", "https://example.org/a.png"]
    )
    func unreachableProxy(scheme: String, url: String) async throws {
        let port = try LoopbackPort.unused()
        var configuration = Downloader.Configuration()
        configuration.proxy = .url("\(scheme)://user:secret@127.0.0.1:\(port)")
        let error = await failure { [configuration] () async throws(EideticError) in
            try await Downloader(configuration).fetch(url: url)
        }
        #expect(error?.code == .connectionRefused)
        let origin = "example.org:\(url.hasPrefix("https") ? 443 : 80)"
        #expect(
            error?.message == "cannot connect to the proxy 127.0.0.1:\(port) for \(origin): Connection refused"
        )
    }

    @Test("L04 a proxy that does not speak SOCKS is connectionRefused, a temporary failure")
    func brokenSOCKS() async throws {
        var configuration = Downloader.Configuration()
        configuration.proxy = .url("socks5h://127.0.0.1:1")
        let error = await failure { [configuration] () async throws(EideticError) in
            try await Downloader(configuration).fetch(url: "http://example.org/")
        }
        #expect(error?.code == .connectionRefused)
        #expect(error?.message.contains("the proxy 127.0.0.1:1") == true)
        let nowhere = try Relay(to: 1)
        configuration.proxy = .url("socks5h://127.0.0.1:\(nowhere.port)")
        let ended = await failure { [configuration] () async throws(EideticError) in
            try await Downloader(configuration).fetch(url: "http://example.org/")
        }
        #expect(ended?.code == .connectionRefused)
    }

    // MARK: Private networks

    /// A server and a downloader in a network namespace in which 198.41.0.4, a public address, is local.
    private struct PublicPlace: Sendable {
        let origin: ScriptedOrigin
        let downloader: Downloader
    }

    @Test("L20 a redirect of a public server into a private network is refused")
    func redirectIntoPrivateNetwork() async throws {
        let optionalPlace = await NetworkNamespace.run { () -> PublicPlace? in
            guard NetworkNamespace.bringUp(), NetworkNamespace.addAddress([198, 41, 0, 4]),
                let origin = try? ScriptedOrigin(
                    on: .any,
                    script: { request in
                        let port = request.headers["host"]?.split(separator: ":").last ?? ""
                        switch request.path {
                        case "/loopback":
                            return [.response(302, headers: ["Location": "http://127.0.0.1:\(port)/secret"])]
                        case "/mapped":
                            return [.response(302, headers: ["Location": "http://[::ffff:127.0.0.1]:\(port)/secret"])]
                        case "/decimal":
                            return [.response(302, headers: ["Location": "http://2130706433:\(port)/secret"])]
                        case "/again": return [.response(302, headers: ["Location": "/a.png"])]
                        default: return [.response(200, headers: [:], body: Fixture.image())]
                        }
                    }
                )
            else { return nil }
            var configuration = Downloader.Configuration()
            configuration.refusesPrivateNetworks = true
            configuration.observesNetwork = false
            // The engine's thread is started here, and so belongs to this namespace.
            return PublicPlace(origin: origin, downloader: Downloader(configuration))
        }
        guard let optionalPlace, let here = optionalPlace else {
            try Test.cancel("no network namespace here")
        }
        let base = "http://198.41.0.4:\(here.origin.port)"
        for path in ["/a.png", "/again"] { #expect(try await here.downloader.fetch(url: base + path).status == 200) }
        for path in ["/loopback", "/mapped", "/decimal"] {
            let error = await failure { () async throws(EideticError) in
                try await here.downloader.fetch(url: base + path)
            }
            #expect(error?.code == .refused, "\(path): \(String(describing: error))")
        }
        #expect(!here.origin.requests.contains { $0.path == "/secret" })
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test if tinyproxy is not installed.
    fileprivate static var needsTinyproxy: Self {
        .enabled(if: Subprocess.executablePath(for: "tinyproxy") != nil, "tinyproxy is not installed")
    }
}
