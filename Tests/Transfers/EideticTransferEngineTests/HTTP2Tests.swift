import EideticCore
import EideticFetch
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc
import Testing

/// Transfers from a real nginx over TLS and HTTP/2.
@Suite("transfers over HTTP/2", .needsNginx, .timeLimit(.minutes(2)))
struct HTTP2Tests {
    /// Starts a server that logs the protocol of each request.
    private func startServer(
        _ directives: String = ""
    ) async throws -> (server: Nginx, log: String, place: TemporaryDirectory) {
        let place = try TemporaryDirectory(named: "http2")
        let log = place.path(of: "protocols")
        let server = try await Nginx(
            .init(
                server: "access_log \(log) protocols; \(directives)",
                http: "log_format protocols '$request_method $uri $server_protocol $status';",
                usesTLS: true
            )
        )
        return (server, log, place)
    }

    private func lines(of log: String) throws -> [String] {
        String(decoding: try FileSystem().contents(of: log), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test("B14 many downloads over HTTP/2 arrive byte for byte")
    func downloads() async throws {
        let (server, log, place) = try await startServer()
        let bodies = (0..<40).map { Body.bytes($0 * 10_007, seed: UInt64($0 + 1)) }
        for (number, body) in bodies.enumerated() { try server.addFile(body, at: "\(number)") }
        let url = try #require(server.secureURL)
        let fixture = try await ServiceFixture { $0.connections.certificateAuthorityFile = server.authorityFile }
        let requests = bodies.indices.map { number -> TransferRequest in
            var request = TransferRequest(download: "\(url)/\(number)")
            request.note = [UInt8(number)]
            return request
        }
        _ = try await fixture.service.add(requests, to: "s")
        for event in await fixture.log.waitForEvents(bodies.count) {
            let (response, bytes) = try fixture.finished(event)
            #expect(response.status == 200 && bytes == bodies[Int(event.note[0])], "\(event.note)")
        }
        await fixture.close()
        await server.stop()
        let all = try lines(of: log)
        #expect(all.count == bodies.count && all.allSatisfy { $0.contains("HTTP/2.0 200") }, "\(all.prefix(3))")
        withExtendedLifetime(place) {}
    }

    @Test("B14 L20 a host of transfers must present its pinned key, in any spelling of the host")
    func pinnedKeys() async throws {
        let (server, _, place) = try await startServer()
        try server.addFile([1], at: "a")
        let url = try #require(server.secureURL), wrong = "sha256//" + String(repeating: "A", count: 43) + "="
        let fixture = try await ServiceFixture {
            $0.connections.certificateAuthorityFile = server.authorityFile
            $0.connections.pin(["LOCALHOST": [wrong]])
        }
        _ = try await fixture.service.add([TransferRequest(download: "\(url)/a")], to: "s")
        let event = try #require(await fixture.log.waitForEvents(1).first)
        guard case .failed(let code, _) = event.outcome else { throw UnexpectedOutcome(event: event) }
        #expect(code == EideticError.Code.tlsFailure.description)
        await fixture.close()
        await server.stop()
        withExtendedLifetime(place) {}
    }

    @Test("B14 transfers go through their proxy")
    func proxy() async throws {
        let proxy = try ScriptedOrigin { _ in [.response(200, headers: [:], body: [1, 2, 3])] }
        let fixture = try await ServiceFixture { $0.connections.proxy = .url(proxy.url) }
        _ = try await fixture.service.add([TransferRequest(download: "http://example.invalid/a")], to: "s")
        let event = try #require(await fixture.log.waitForEvents(1).first)
        #expect(try fixture.finished(event).bytes == [1, 2, 3])
        #expect(proxy.requests.first?.path == "http://example.invalid/a")
        await fixture.close()
    }

    @Test("B14 a download over HTTP/2 whose process is killed continues where it was")
    func continuesAfterKill() async throws {
        let (server, log, place) = try await startServer("limit_rate_after 2m; limit_rate 256k;")
        let body = Body.bytes(3 << 20)
        try server.addFile(body, at: "a")
        let process = try ServiceProcess(
            directory: place.path(of: "transfers"),
            socketPath: place.path(of: "socket"),
            arguments: ["--certificates", try #require(server.authorityFile)]
        )
        var client = try process.connect()
        try await client.openSession(TransferSessionConfiguration(identifier: "s"))
        let first = EventLog()
        var observation = try await client.observe("s") { first.record($0) }
        _ = try await client.add([TransferRequest(download: "\(try #require(server.secureURL))/a")], to: "s")
        await first.wait { $0.contains { if case .progress(_, let count, _) = $0 { count > 1 << 20 } else { false } } }
        process.kill()
        try process.start()
        client = try process.connect()
        let second = EventLog()
        observation = try await client.observe("s") { second.record($0) }
        let event = await second.waitForEvents(1)[0]
        guard case .finished(let response) = event.outcome else { throw UnexpectedOutcome(event: event) }
        #expect(try FileSystem().contents(of: response.path) == body)
        withExtendedLifetime(observation) {}
        process.kill()
        await server.stop()
        #expect(try lines(of: log).last == "GET /a HTTP/2.0 206")
    }

    @Test("B14 an upload over HTTP/2 arrives byte for byte")
    func uploads() async throws {
        let store = try TemporaryDirectory(named: "http2-uploads")
        chmod(store.path, 0o777)
        let (server, log, place) = try await startServer(
            "client_max_body_size 64m; location /put/ { alias \(store.path)/; dav_methods PUT; }"
        )
        let body = Body.bytes(5_000_003)
        let path = try place.write(body, to: "file")
        let fixture = try await ServiceFixture { $0.connections.certificateAuthorityFile = server.authorityFile }
        _ = try await fixture.add(TransferRequest(upload: path, to: "\(try #require(server.secureURL))/put/a"))
        let (response, _) = try fixture.finished(await fixture.log.waitForEvents(1)[0])
        #expect(response.status == 201)
        #expect(try FileSystem().contents(of: store.path(of: "a")) == body)
        await fixture.close()
        // A request is logged after its response; another one is answered later still.
        _ = try await server.requests()
        await server.stop()
        #expect(try lines(of: log) == ["PUT /put/a HTTP/2.0 201"])
    }
}
