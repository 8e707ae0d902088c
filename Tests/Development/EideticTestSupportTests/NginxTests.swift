import EideticTestSupport
import Testing

@Suite("Nginx", .needsNginx, .timeLimit(.minutes(1)))
struct NginxTests {
    @Test("serves a file, and logs the request once")
    func serves() async throws {
        let server = try await Nginx()
        let url = try server.addFile(Array("hello".utf8), at: "folder/a.txt")
        let result = try await Subprocess.run("curl", arguments: ["-sS", "-A", "test", url])
        #expect(result.outputText == "hello")
        let requests = try await server.requests()
        #expect(requests.map(\.path) == ["/folder/a.txt"])
        #expect(requests.first?.status == 200)
        #expect(requests.first?.bodyBytes == 5)
        #expect(requests.first?.headers["user-agent"] == "test")
    }

    @Test("accepts further location blocks")
    func acceptsLocations() async throws {
        let server = try await Nginx(.init(server: "location /gone { return 410; }"))
        let result = try await Subprocess.run(
            "curl",
            arguments: ["-sS", "-o", "/dev/null", "-w", "%{http_code}", "\(server.url)/gone"]
        )
        #expect(result.outputText == "410")
    }

    @Test("supports TLS and HTTP/2 with a certificate that only its own authority validates")
    func supportsTLS() async throws {
        let server = try await Nginx(.init(usesTLS: true))
        try server.addFile([65], at: "a.txt")
        let url = "\(try #require(server.secureURL))/a.txt"
        let authority = try #require(server.authorityFile)
        #expect(try await Subprocess.run("curl", arguments: ["-sS", url]).status == .exited(60))
        #expect(try await Subprocess.run("curl", arguments: ["-sS", "--cacert", authority, url]).outputText == "A")
        #expect(try await server.requests().map(\.version) == ["HTTP/2.0"])
    }

    @Test("refuses connections once stopped")
    func stops() async throws {
        let server = try await Nginx()
        await server.stop()
        #expect(try await Subprocess.run("curl", arguments: ["-sS", server.url]).status == .exited(7))
    }
}
