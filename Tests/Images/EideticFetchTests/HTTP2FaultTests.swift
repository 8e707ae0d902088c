import EideticCore
import EideticTestSupport
import Testing

@testable import EideticFetch

@Suite("Responses that violate HTTP/2", .needsNginx, .timeLimit(.minutes(2)))
struct HTTP2FaultTests {
    /// RFC 9113, sections 8.2.1 and 8.2.2; a head of 192 KB, in frames of the largest size.
    @Test(
        "L04 the error says that a field is forbidden in HTTP/2; an endless head is a bad response",
        arguments: [
            ("X-A", 1, 1, EideticError.Code.connectionLost), ("connection", 5, 1, .connectionLost),
            ("a b", 1, 1, .connectionLost), ("a", 16_000, 12, .badResponse),
        ]
    )
    func fields(name: String, length: Int, count: Int, code: EideticError.Code) async throws {
        let nginx = try await Nginx(.init(usesTLS: true))
        let authority = try #require(nginx.authorityFile)
        let folder = try #require(authority.parentPath)
        let arguments = [
            "-c", Self.server, "\(folder)/server.pem", "\(folder)/server.key", name, "\(length)", "\(count)",
        ]
        let server = try Subprocess("python3", arguments: arguments)
        try #require(await server.waitForOutput("\n"), "\(server.errorsSoFar)")
        let port = server.outputSoFar.filter(\.isNumber)
        let url = "https://localhost:\(port)/a"
        var configuration = Downloader.Configuration()
        configuration.certificateAuthorityFile = authority
        let downloader = Downloader(configuration)
        let error = await failure { () async throws(EideticError) in try await downloader.fetch(url: url) }
        #expect(error?.code == code, "\(String(describing: error))")
        let reason = code == .badResponse ? "the response head is too long" : "violates HTTP/2"
        #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
        let request = FileExchangeRequest(method: "GET", url: url)
        #expect(try await Outcome.performing(request, authority: authority).ends == [code])
    }

    /// A server of HTTP/2 that answers each request with a field, in any number.
    private static let server = """
        import socket, ssl, struct, sys, threading
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        context.set_alpn_protocols(["h2"])
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        name, value, count = sys.argv[3].encode(), b"v" * int(sys.argv[4]), int(sys.argv[5])

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
                if head[3] == 1:
                    # 88 is ":status: 200".
                    session.sendall(frame(1, 0, stream, b"\\x88" + field))
                    for _ in range(count - 1):
                        session.sendall(frame(9, 0, stream, field))
                    session.sendall(frame(9, 4, stream) + frame(0, 1, stream, b"x"))

        while True:
            threading.Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()
        """
}
