import EideticCore
import EideticFetch
import EideticTestSupport
import Testing

/// Connections that die silently, and connections that cannot be established.
@Suite("Dead connections", .needsNginx, .timeLimit(.minutes(1)))
struct DeadConnectionTests {
    private let time = ManualTime()
    private let small: ScriptedOrigin
    private let server: Nginx
    private let relay: Relay
    private let downloader: Downloader

    init() async throws {
        small = try ScriptedOrigin { _ in [.response(200, headers: [:], body: Fixture.image())] }
        server = try await Nginx(.init(usesTLS: true))
        try server.addFile(Fixture.image(), at: "a.png")
        let port = try #require(server.secureURL?.split(separator: ":").last.flatMap { Int($0) })
        relay = try Relay(to: port)
        var configuration = Downloader.Configuration()
        configuration.certificateAuthorityFile = server.authorityFile
        configuration.observesNetwork = false
        configuration.time = time
        downloader = Downloader(configuration)
    }

    private var url: String { "https://localhost:\(relay.port)/a.png" }

    /// Advances the clock in steps that are too short to count as a stop; the engine reads the clock after each.
    private func advance(bySeconds seconds: Int) async throws {
        for _ in 0..<seconds {
            for _ in 0..<2 { _ = try await downloader.fetch(url: small.url) }
            time.advance(by: .milliseconds(950))
        }
        for _ in 0..<2 { _ = try await downloader.fetch(url: small.url) }
    }

    /// Starts a download, which is enqueued when the function returns.
    @MainActor
    private func start(query: String) throws -> Task<Int, any Error> {
        let (downloader, request) = (downloader, try FetchRequest(url: "\(url)?\(query)"))
        return Task.immediate { try await downloader.fetch(request).status }
    }

    private func expectTimeout(of task: Task<Int, any Error>) async {
        let error = await #expect(throws: EideticError.self) { try await task.value }
        #expect(error?.code == .timedOut)
    }

    @Test("L24 after a time-out no other download uses the dead connection, while one still waits on it")
    @MainActor
    func timeout() async throws {
        #expect(try await downloader.fetch(url: url).metrics.httpVersion == "HTTP/2")
        #expect(try await downloader.fetch(url: url + "?again").metrics.isReusedConnection)
        relay.freeze()
        let first = try start(query: "first")
        try await advance(bySeconds: 8)
        let second = try start(query: "second")
        try await advance(bySeconds: 9)
        await expectTimeout(of: first)
        #expect(try await downloader.fetch(url: url + "?third").status == 200)
        #expect(relay.connectionCount == 2)
        // The second download still runs, so the dead connection is still open.
        #expect(try await downloader.fetch(url: url + "?fourth").status == 200)
        #expect(relay.connectionCount == 3)
        try await advance(bySeconds: 9)
        await expectTimeout(of: second)
        // The second time-out makes connections suspected again, until a response arrives.
        for number in 0..<3 { #expect(try await downloader.fetch(url: "\(url)?more=\(number)").status == 200) }
        #expect(relay.connectionCount == 4)
    }

    @Test("L24 after a change of the network no earlier connection is used", arguments: [true, false])
    @MainActor
    func networkChange(isBusy: Bool) async throws {
        #expect(try await downloader.fetch(url: url).status == 200)
        relay.freeze()
        let waiting = isBusy ? try start(query: "waiting") : nil
        downloader.resetAfterNetworkChange()
        #expect(try await downloader.fetch(url: url + "?new").status == 200)
        #expect(relay.connectionCount == 2)
        waiting?.cancel()
        _ = await waiting?.result
    }

    @Test("L24 a request is sent over a new connection after more kept ones have died than libcurl tries")
    @MainActor
    func diedTooOften() async throws {
        let gate = Gate(), image = Fixture.image(), keptCount = 8
        let origin = try ScriptedOrigin { request in
            let answer = ScriptedOrigin.Step.response(200, headers: [:], body: image)
            if request.path.hasPrefix("/first") { return [.wait(gate), answer] }
            return request.connection <= keptCount ? [.close] : [answer]
        }
        var configuration = Downloader.Configuration()
        (configuration.maximumConcurrent, configuration.maximumPerHost) = (keptCount, keptCount)
        let downloader = Downloader(configuration)
        let first = try (0..<keptCount).map { number in
            let request = try FetchRequest(url: "\(origin.url)/first?\(number)")
            return Task.immediate { try await downloader.fetch(request).status }
        }
        await origin.waitForRequests(count: keptCount)
        gate.open()
        for task in first { #expect(try await task.value == 200) }
        #expect(try await downloader.fetch(url: origin.url + "/late").bytes == image)
        #expect(origin.connectionCount == keptCount + 1)
        // The server may have acted on a request of another method.
        var post = try FetchRequest(url: origin.url + "/again")
        post.method = "POST"
        #expect(try await downloader.fetch(post).status == 200)
    }

    /// RFC 9110, section 9.2.2: an idempotent request may be repeated if the connection ends before the response.
    @Test("L24 a request over HTTP/2 is sent again if its connection ends before the response")
    @MainActor
    func endsBeforeHead() async throws {
        #expect(try await downloader.fetch(url: url).metrics.httpVersion == "HTTP/2")
        relay.freeze()
        let tasks = try (0..<3).map { try start(query: "\($0)") }
        // The engine takes its requests in their order.
        for _ in 0..<2 { _ = try await downloader.fetch(url: small.url) }
        relay.close()
        for task in tasks { #expect(try await task.value == 200) }
    }

    /// RFC 8446, section 6.1: `close_notify` ends a session; TCP may stay open.
    @Test("L24 every request over a TLS session that its server ends is sent again")
    @MainActor
    func endsSession() async throws {
        let folder = try #require(server.authorityFile?.parentPath)
        let arguments = ["-c", Self.endingServer, "\(folder)/server.pem", "\(folder)/server.key"]
        let ending = try Subprocess("python3", arguments: arguments)
        try #require(await ending.waitForOutput("\n"), "\(ending.errorsSoFar)")
        let port = ending.outputSoFar.filter(\.isNumber)
        let tasks = try (0..<4).map { number in
            var request = try FetchRequest(url: "https://localhost:\(port)/\(number)")
            request.requiresImage = false
            return Task.immediate { [downloader, request] in try await downloader.fetch(request).bytes }
        }
        for task in tasks { #expect(try await task.value == Array("x".utf8)) }
    }

    /// A server of HTTP/2 that answers three of four requests over its first session, ends that, and leaves TCP open.
    private static let endingServer = """
        import socket, ssl, struct, sys
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        context.set_alpn_protocols(["h2"])
        listener, connections = socket.create_server(("127.0.0.1", 0)), []
        print(listener.getsockname()[1], flush=True)

        def frame(kind, flags, stream, body=b""):
            return struct.pack(">I", len(body))[1:] + struct.pack(">BBI", kind, flags, stream) + body

        def serve(connection, count):
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            session = context.wrap_bio(incoming, outgoing, server_side=True)
            def wait(call):
                while True:
                    try:
                        return call()
                    except ssl.SSLWantReadError:
                        connection.sendall(outgoing.read())
                        incoming.write(connection.recv(65536) or sys.exit())
            wait(session.do_handshake)
            session.write(frame(4, 0, 0))
            wait(lambda: session.read(24))
            data, streams = b"", []
            while True:
                while len(streams) < count:
                    while len(data) < 9 or len(data) < 9 + int.from_bytes(data[:3], "big"):
                        data += wait(lambda: session.read(65536))
                    if data[3] == 1:
                        streams.append(int.from_bytes(data[5:9], "big"))
                    data = data[9 + int.from_bytes(data[:3], "big"):]
                # 88 is ":status: 200" (RFC 7541, appendix A).
                for stream in streams[:3]:
                    session.write(frame(1, 4, stream, b"\\x88") + frame(0, 1, stream, b"x"))
                if count > 1:
                    try:
                        session.unwrap()
                    except ssl.SSLWantReadError:
                        return connection.sendall(outgoing.read())
                streams = []

        while True:
            connections.append(listener.accept()[0])
            serve(connections[-1], 4 if len(connections) == 1 else 1)
        """

    /// RFC 8446, section 4.2.11; each answer has the number of sessions that were refused before.
    @Test("L24 a server that closes each connection which offers an earlier session is asked without one")
    func refusesSessions() async throws {
        let refusing = try await sessionRefusingServer()
        let port = refusing.outputSoFar.filter(\.isNumber)
        var request = try FetchRequest(url: "https://localhost:\(port)/")
        request.requiresImage = false
        for count in ["0", "1", "1"] {
            #expect(String(decoding: try await downloader.fetch(request).bytes, as: UTF8.self) == count)
        }
    }

    @Test("B14 an exchange after a failed handshake offers no session")
    func transferWithoutSession() async throws {
        let refusing = try await sessionRefusingServer()
        let port = refusing.outputSoFar.filter(\.isNumber)
        let request = FileExchangeRequest(method: "GET", url: "https://localhost:\(port)/")
        let outcome = try await Outcome.performing(request, count: 4, authority: server.authorityFile)
        #expect(outcome.ends == [nil, .connectionLost, nil, nil])
    }

    private func sessionRefusingServer() async throws -> Subprocess {
        let folder = try #require(server.authorityFile?.parentPath)
        let arguments = ["-c", Self.sessionRefusingServer, "\(folder)/server.pem", "\(folder)/server.key"]
        let refusing = try Subprocess("python3", arguments: arguments)
        try #require(await refusing.waitForOutput("\n"), "\(refusing.errorsSoFar)")
        return refusing
    }

    /// A server that closes connections whose first message has the extension 41, `pre_shared_key`.
    private static let sessionRefusingServer = """
        import socket, ssl, sys
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        listener, refused = socket.create_server(("127.0.0.1", 0)), 0
        print(listener.getsockname()[1], flush=True)

        def number(message, at, count):
            return int.from_bytes(message[at:at + count], "big")

        def offers_session(hello):
            at = 43
            for size in 1, 2, 1:
                at += size + number(hello, at, size)
            at += 2
            while at < len(hello):
                if number(hello, at, 2) == 41:
                    return True
                at += 4 + number(hello, at + 2, 2)

        while True:
            connection = listener.accept()[0]
            if offers_session(connection.recv(65536, socket.MSG_PEEK)):
                refused += 1
                connection.recv(65536)
                connection.close()
                continue
            session = context.wrap_socket(connection, server_side=True)
            session.recv(65536)
            session.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: 1\\r\\n\\r\\n%d" % refused)
            session.close()
        """

    /// Firefox makes as many attempts of a safe request (`network.http.request.max-attempts`).
    @Test("L24 a lost request is sent again ten times if the origin answers others, and else once")
    func repetitions() async throws {
        let image = Fixture.image(), answered = [3, 14]
        let origin = try ScriptedOrigin { request in
            guard answered.contains(request.connection) else { return [.close] }
            return [.response(200, headers: ["Connection": "close"], body: image)]
        }
        func expectLoss(afterConnections count: Int) async {
            let error = await failure { () async throws(EideticError) in try await downloader.fetch(url: origin.url) }
            #expect(error?.code == .connectionLost, "\(String(describing: error))")
            #expect(origin.connectionCount == count)
        }
        await expectLoss(afterConnections: 2)
        for count in answered {
            #expect(try await downloader.fetch(url: origin.url).bytes == image)
            #expect(origin.connectionCount == count)
        }
        await expectLoss(afterConnections: 25)
        await expectLoss(afterConnections: 27)
    }

    @Test("L04 a connection that is closed in the TLS handshake is connectionLost, a temporary failure")
    func endsInHandshake() async throws {
        let nowhere = try Relay(to: 1)
        let url = "https://localhost:\(nowhere.port)/a.png"
        for _ in 0..<4 {
            let error = await failure { () async throws(EideticError) in try await downloader.fetch(url: url) }
            #expect(error?.code == .connectionLost, "\(String(describing: error))")
        }
        #expect(downloader.failures.entries.isEmpty)
    }
}
