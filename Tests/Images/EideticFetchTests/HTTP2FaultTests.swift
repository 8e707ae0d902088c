import EideticCore
import EideticTestSupport
import Testing

@testable import EideticFetch

@Suite("Responses that violate HTTP/2", .needsNginx, .timeLimit(.minutes(2)))
struct HTTP2FaultTests {
    /// RFC 9113, sections 8.2.1 and 8.2.2; a head of 192 KB, in frames of the largest size.
    @Test(
        "L04 the error says that a field is forbidden in HTTP/2, or that a head is too long",
        arguments: [
            ("X-A", 1, 1, "violates HTTP/2"), ("connection", 5, 1, "violates HTTP/2"), ("a b", 1, 1, "violates HTTP/2"),
            ("a", 16_000, 12, "the connection of HTTP/2 ended, because a response head on it was too long or broken"),
        ]
    )
    func fields(name: String, length: Int, count: Int, reason: String) async throws {
        let nginx = try await Nginx(.init(usesTLS: true))
        let server = try await start(with: nginx, name, "\(length)", "\(count)")
        let authority = try #require(nginx.authorityFile)
        let downloader = makeDownloader(authority)
        let error = await failure { () async throws(EideticError) in try await downloader.fetch(url: server.url) }
        #expect(error?.code == .connectionLost, "\(String(describing: error))")
        #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
        let request = FileExchangeRequest(method: "GET", url: server.url)
        #expect(try await Outcome.performing(request, authority: authority).ends == [.connectionLost])
    }

    /// libcurl reports the fault for the request that reads the connection at that time.
    @Test("L04 a head that is too long fails no other request of its connection for good")
    func otherRequests() async throws {
        let nginx = try await Nginx(.init(usesTLS: true))
        let server = try await start(with: nginx, "a", "16000", "12", "once")
        let downloader = makeDownloader(try #require(nginx.authorityFile))
        let url = server.url
        async let slow = failure { () async throws(EideticError) in
            var request = try FetchRequest(url: "\(url)/b")
            request.ignoresFailureList = true
            return try await downloader.fetch(request)
        }
        #expect(await server.process.waitForOutput("slow\n"), "\(server.process.errorsSoFar)")
        let other = await failure { () async throws(EideticError) in try await downloader.fetch(url: "\(url)/c") }
        for error in [await slow, other] {
            #expect(error.map { $0.code == .connectionLost } ?? true, "\(String(describing: error))")
        }
        #expect(server.process.outputSoFar.contains("endless\n"))
    }

    private func makeDownloader(_ authority: String) -> Downloader {
        var configuration = Downloader.Configuration()
        configuration.certificateAuthorityFile = authority
        configuration.retryClock = ManualRetryClock()
        return Downloader(configuration)
    }

    private func start(with nginx: Nginx, _ words: String...) async throws -> (process: Subprocess, url: String) {
        let folder = try #require(nginx.authorityFile?.parentPath)
        let files = ["\(folder)/server.pem", "\(folder)/server.key"]
        let process = try Subprocess("python3", arguments: ["-c", Self.server] + files + words)
        try #require(await process.waitForOutput("\n"), "\(process.errorsSoFar)")
        return (process, "https://localhost:\(process.outputSoFar.filter(\.isNumber))/a")
    }

    /// A server of HTTP/2 that answers each request with a field, in any number; with the argument `once` only the
    /// second one, after the beginning of a body for the first one, and all later ones with an image.
    private static let server = """
        import socket, ssl, struct, sys, threading
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        context.set_alpn_protocols(["h2"])
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        name, value, count = sys.argv[3].encode(), b"v" * int(sys.argv[4]), int(sys.argv[5])
        answered, image = [], b"\\x89PNG\\r\\n\\x1a\\n" + bytes(92)

        def frame(kind, flags, stream, body=b""):
            return struct.pack(">I", len(body))[1:] + struct.pack(">BBI", kind, flags, stream) + body

        # RFC 7541, section 6.2.2; 7f begins a length of more than 126 bytes.
        if len(value) <= 126:
            length = bytes([len(value)])
        else:
            length = bytes([127, (len(value) - 127) % 128 + 128, (len(value) - 127) // 128])
        field = b"\\0" + bytes([len(name)]) + name + length + value

        def serve(connection):
            session = context.wrap_socket(connection, server_side=True)
            session.sendall(frame(4, 0, 0))
            session.recv(24)
            while head := session.recv(9):
                size, stream = int.from_bytes(head[:3], "big"), int.from_bytes(head[5:], "big")
                while size:
                    size -= len(session.recv(size))
                # 88 is ":status: 200".
                if head[3] == 1 and sys.argv[6:]:
                    answered.append(connection)
                    if answered != [connection, connection]:
                        isFirst = len(answered) == 1
                        session.sendall(frame(1, 4, stream, b"\\x88") + frame(0, 0 if isFirst else 1, stream, image))
                        if isFirst:
                            print("slow", flush=True)
                        continue
                    print("endless", flush=True)
                if head[3] == 1:
                    session.sendall(frame(1, 0, stream, b"\\x88" + field))
                    for _ in range(count - 1):
                        session.sendall(frame(9, 0, stream, field))
                    session.sendall(frame(9, 4, stream) + frame(0, 1, stream, b"x"))

        while True:
            threading.Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()
        """
}
