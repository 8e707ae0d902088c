import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Glibc
import Testing

/// The faults of docs/fetch-outcomes.md, each with its one outcome.
@Suite("Faults", .timeLimit(.minutes(1)))
struct FaultTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let name: String
        let code: EideticError.Code
        let steps: [ScriptedOrigin.Step]
        var message = ""

        var testDescription: String { "\(name) is \(code)" }
    }

    static let faults: [Fault] = [
        Fault(name: "404", code: .httpStatus, steps: [.response(404)], message: "404 Not Found"),
        Fault(name: "403", code: .httpStatus, steps: [.response(403)], message: "403 Forbidden"),
        Fault(name: "401", code: .httpStatus, steps: [.response(401)], message: "401 Unauthorized"),
        Fault(name: "416", code: .httpStatus, steps: [.response(416)], message: "416"),
        Fault(name: "429", code: .httpStatus, steps: [.response(429, headers: ["Retry-After": "9"])], message: "429"),
        Fault(name: "500", code: .httpStatus, steps: [.response(500)], message: "500"),
        Fault(name: "503", code: .httpStatus, steps: [.response(503)], message: "503"),
        Fault(
            name: "an image with status 500",
            code: .httpStatus,
            steps: [.response(500, headers: [:], body: Fixture.image())],
            message: "500"
        ),
        Fault(
            name: "404 with an incomplete page",
            code: .httpStatus,
            steps: [.head(404, headers: ["Content-Length": "1000"]), .send(Fixture.webPage), .close],
            message: "404"
        ),
        Fault(
            name: "503 with a connection reset within the page",
            code: .httpStatus,
            steps: [.head(503, headers: ["Content-Length": "9000000"]), .send(Fixture.webPage), .reset],
            message: "503"
        ),
        Fault(
            name: "a redirect to itself with an incomplete body",
            code: .badRedirect,
            steps: [.head(302, headers: ["Location": "again", "Content-Length": "1000"]), .close],
            message: "more than 20"
        ),
        Fault(
            name: "a range that was not requested",
            code: .badResponse,
            steps: [.response(206, headers: ["Content-Range": "bytes 7-8/9"], body: [1, 2])],
            message: "bytes 7-8/9"
        ),
        Fault(
            name: "a web page with 200",
            code: .notAnImage,
            steps: [.response(200, headers: ["Content-Type": "text/html"], body: Fixture.webPage)],
            message: "text/html"
        ),
        Fault(name: "an empty body", code: .notAnImage, steps: [.response(200)], message: "empty"),
        Fault(
            name: "fewer bytes than announced",
            code: .lengthMismatch,
            steps: [.head(200, headers: ["Content-Length": "2000"]), .send(Fixture.image(length: 1_000)), .close],
            message: "2000 bytes were announced"
        ),
        Fault(
            name: "a connection reset within the body",
            code: .connectionLost,
            steps: [.head(200, headers: ["Content-Length": "9000000"]), .send(Fixture.image(length: 10)), .reset]
        ),
        Fault(
            name: "a chunked body without its last chunk",
            code: .connectionLost,
            steps: [.head(200, headers: ["Transfer-Encoding": "chunked"]), .chunk(Fixture.image(length: 100)), .close]
        ),
        Fault(name: "no response", code: .connectionLost, steps: [.close]),
        Fault(
            name: "half a head, then the end",
            code: .connectionLost,
            steps: [.send(Array("HTTP/1.1 200 OK\r\nContent-Le".utf8)), .close],
            message: "within the head"
        ),
        Fault(name: "no HTTP", code: .badResponse, steps: [.send(Array("SSH-2.0-OpenSSH\r\n\r\n".utf8)), .close]),
        Fault(
            name: "an endless body",
            code: .limitExceeded,
            steps: [.head(200), .send(Fixture.image(length: 10)), .sendRepeatedly(Array(repeating: 7, count: 65_536))],
            message: "longer than the limit"
        ),
        Fault(
            name: "more bytes announced than allowed",
            code: .limitExceeded,
            steps: [.head(200, headers: ["Content-Length": "99999999"]), .send(Fixture.image(length: 10))],
            message: "99999999 bytes was announced"
        ),
        Fault(
            name: "a head of 10 MB",
            code: .badResponse,
            steps: [
                .send(Array("HTTP/1.1 200 OK\r\n".utf8)),
                .sendRepeatedly(Array("X-Filler: \(String(repeating: "x", count: 1_000))\r\n".utf8), times: 10_000),
            ],
            message: "head"
        ),
        Fault(
            name: "a header line without an end",
            code: .badResponse,
            steps: [
                .send(Array("HTTP/1.1 200 OK\r\nX-Filler: ".utf8)),
                .sendRepeatedly(Array(repeating: 120, count: 4_096)),
            ],
            message: "has no end"
        ),
        Fault(
            name: "a trailer line without an end",
            code: .badResponse,
            steps: [
                .head(200, headers: ["Transfer-Encoding": "chunked"]), .chunk(Fixture.image(length: 100)),
                .send(Array("0\r\nX-Filler: ".utf8)), .sendRepeatedly(Array(repeating: 120, count: 4_096)),
            ]
        ),
        Fault(
            name: "a malformed chunk",
            code: .badResponse,
            steps: [.head(200, headers: ["Transfer-Encoding": "chunked"]), .send(Array("-5\r\nabcde".utf8)), .close],
            message: "chunk"
        ),
        Fault(
            name: "a protocol that was not requested",
            code: .badResponse,
            steps: [.head(101, headers: ["Upgrade": "x", "Connection": "upgrade"]), .close],
            message: "not requested"
        ),
        Fault(
            name: "a continued Transfer-Encoding",
            code: .badResponse,
            steps: [.send(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n".utf8)), .close],
            message: "malformed Transfer-Encoding"
        ),
        Fault(
            name: "a space before the colon of Transfer-Encoding",
            code: .badResponse,
            steps: [.send(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n".utf8)), .close],
            message: "malformed Transfer-Encoding"
        ),
        Fault(
            name: "a head that begins with a continuation line after another head",
            code: .badResponse,
            steps: [
                .send(Array("HTTP/1.1 103 Early\r\nLink: x\r\n\r\n".utf8)),
                .send(Array("HTTP/1.1 200 OK\r\n Transfer-Encoding: chunked\r\n\r\n".utf8)), .close,
            ],
            message: "begins with a continuation line"
        ),
        Fault(
            name: "a control character before a transfer coding",
            code: .badResponse,
            steps: [
                .send(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding:\u{b}chunked\r\n\r\n".utf8)), .close,
            ],
            message: "transfer coding"
        ),
        Fault(
            name: "a control character after the name Transfer-Encoding",
            code: .badResponse,
            steps: [
                .send(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding\u{b}: chunked\r\n\r\n".utf8)), .close,
            ],
            message: "malformed Transfer-Encoding"
        ),
        Fault(
            name: "a space within a transfer coding",
            code: .badResponse,
            steps: [
                .send(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chun ked\r\n\r\n".utf8)), .close,
            ],
            message: "transfer coding"
        ),
        Fault(
            name: "a length of two numbers",
            code: .badResponse,
            steps: [
                .send(Array("HTTP/1.1 200 OK\r\nContent-Length: 3 9\r\n\r\nabcdefghi".utf8)), .close,
            ],
            message: "Content-Length"
        ),
        Fault(
            name: "a length with a parameter",
            code: .badResponse,
            steps: [
                .send(Array("HTTP/1.1 200 OK\r\nContent-Length: 5;x\r\n\r\nabcde".utf8)), .close,
            ],
            message: "Content-Length"
        ),
        Fault(
            name: "a space before the colon of Content-Length",
            code: .badResponse,
            steps: [
                .send(Array("HTTP/1.1 200 OK\r\nContent-Length : 100\r\n\r\n".utf8)), .close,
            ],
            message: "Content-Length"
        ),
        Fault(
            name: "two lengths",
            code: .badResponse,
            steps: [
                .head(200, headers: ["Content-Length": "100", "Content-Length": "90"]),
                .send(Fixture.image(length: 100)),
            ],
            message: "several lengths"
        ),
        Fault(
            name: "a list of two lengths",
            code: .badResponse,
            steps: [.head(200, headers: ["Content-Length": "90, 100"]), .send(Fixture.image(length: 100))],
            message: "several lengths"
        ),
        Fault(
            name: "a redirect to itself",
            code: .badRedirect,
            steps: [.response(302, headers: ["Location": "/again"])],
            message: "more than 20"
        ),
        Fault(
            name: "a redirect to a file",
            code: .badRedirect,
            steps: [.response(302, headers: ["Location": "file:///etc/passwd"])],
            message: "only http and https"
        ),
        Fault(
            name: "a redirect without a Location header",
            code: .badRedirect,
            steps: [.response(302)],
            message: "no Location header"
        ),
        Fault(
            name: "a redirect to what is no URL",
            code: .badRedirect,
            steps: [.response(302, headers: ["Location": "data:image/png;base64,xx"])],
            message: "to data:image/png;base64,xx: this is no URL"
        ),
    ]

    /// libcurl 7.88 appends such a line to the field that the handle received last, which was freed.
    @Test("L04 a head that begins with a continuation line continues no field of another response")
    func continuationOfNothing() async throws {
        let image = Fixture.image(length: 100)
        let origin = try ScriptedOrigin { request in
            let line = request.path == "/bad" ? " X: y\r\n" : "X: y\r\n"
            let head = "HTTP/1.1 200 OK\r\n\(line)Content-Length: \(image.count)\r\n\r\n"
            return [.send(Array(head.utf8) + image)]
        }
        let downloader = Downloader()
        for _ in 0..<3 {
            #expect(try await downloader.fetch(url: origin.url + "/good").bytes == image)
            let error = await failure { () async throws(EideticError) in
                var request = try FetchRequest(url: origin.url + "/bad")
                request.ignoresFailureList = true
                return try await downloader.fetch(request)
            }
            #expect(error?.code == .badResponse)
            #expect(error?.message.contains("continuation line") == true)
        }
    }

    @Test("L04 each fault has its own outcome, with host and port in the message", arguments: faults)
    func outcome(_ fault: Fault) async throws {
        let origin = try ScriptedOrigin { _ in fault.steps }
        var request = try FetchRequest(url: origin.url + "/a.png")
        request.byteLimit = .mebibytes(10)
        let error = await failure { [request] () async throws(EideticError) in try await Downloader().fetch(request) }
        #expect(error?.code == fault.code)
        #expect(error?.message.contains(fault.message) == true)
        #expect(error?.message.contains("127.0.0.1:\(origin.port)") == true)
    }

    /// libcurl opens the file in the thread of all downloads, and would wait there for a writer.
    @Test("L04 a FIFO as the file of certificates is an error of the download")
    func fifoOfCertificates() async throws {
        let directory = try TemporaryDirectory()
        var configuration = Downloader.Configuration()
        configuration.certificateAuthorityFile = directory.path(of: "fifo.pem")
        #expect(mkfifo(directory.path(of: "fifo.pem"), 0o600) == 0)
        let error = await failure { [configuration] () async throws(EideticError) in
            try await Downloader(configuration).fetch(url: "https://127.0.0.1:1/a.png")
        }
        #expect(error?.code == .fileFailure)
    }

    @Test("L04 the error of a refused connection has host and port")
    func refused() async throws {
        let error = await failure { () async throws(EideticError) in
            try await Downloader().fetch(url: "http://127.0.0.1:1/a.png")
        }
        #expect(error?.code == .connectionRefused)
        #expect(error?.message.contains("127.0.0.1:1:") == true)
    }

    @Test("L04 the error of an unknown host has its name")
    func unknownHost() async throws {
        let error = await failure { () async throws(EideticError) in
            try await Downloader().fetch(url: "http://no-such-host.invalid/a.png")
        }
        #expect(error?.code == .hostNotFound)
        #expect(error?.message.contains("no-such-host.invalid") == true)
    }
}
