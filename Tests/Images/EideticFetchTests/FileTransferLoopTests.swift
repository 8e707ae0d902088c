import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

@Suite("Exchanges with files", .timeLimit(.minutes(1)))
struct FileTransferLoopTests {
    @Test("B14 an exchange sends its fields, passes on the body as it is, and ends once")
    func exchange() async throws {
        let origin = try ScriptedOrigin { _ in
            [.response(404, headers: ["Content-Encoding": "gzip"], body: [1, 2, 3])]
        }
        let request = FileExchangeRequest(method: "GET", url: "\(origin.url)/a", headers: ["X-Own": "b"])
        let outcome = try await Outcome.performing(request)
        #expect(outcome.status == 404 && outcome.body == [1, 2, 3] && outcome.ends == [nil])
        #expect(origin.requests.map { $0.headers["x-own"] } == ["b"])
    }

    @Test("B14 an exchange whose connection breaks within the body ends once, with the failure")
    func interruption() async throws {
        let origin = try ScriptedOrigin { _ in
            [.head(200, headers: ["Content-Length": "1000"]), .send([1, 2, 3]), .close]
        }
        let outcome = try await Outcome.performing(FileExchangeRequest(method: "GET", url: "\(origin.url)/a"))
        #expect(outcome.status == 200 && outcome.body == [1, 2, 3] && outcome.ends == [.connectionLost])
    }

    @Test(
        "B14 a response that is malformed is refused",
        arguments: [
            [.head(200, headers: ["Content-Length": "3", "Content-Length": "2"]), .send([1, 2, 3])],
            [
                .send(Array("HTTP/1.1 200 OK\r\nX-Filler: ".utf8)),
                .sendRepeatedly(Array(repeating: 120, count: 4_096)),
            ],
            [.send(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n".utf8)), .close],
            [.send(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\tchunked\r\n\r\n0\r\n\r\n".utf8)), .close],
            [
                .send(Array("HTTP/1.1 103 Early\r\nLink: x\r\n\r\n".utf8)),
                .send(Array("HTTP/1.1 200 OK\r\n Transfer-Encoding: chunked\r\n\r\n".utf8)), .close,
            ],
            [.send(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding:\u{b}chunked\r\n\r\n".utf8)), .close],
            [.send(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding\u{b}: chunked\r\n\r\n".utf8)), .close],
            [.send(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chun ked\r\n\r\n".utf8)), .close],
            [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 3 9\r\n\r\nabcdefghi".utf8)), .close],
            [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 5;x\r\n\r\nabcde".utf8)), .close],
            [.send(Array("HTTP/1.1 200 OK\r\nContent-Length : 100\r\n\r\n".utf8)), .close],
            [.send(Array("HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n".utf8)), .close],
            [.head(101, headers: ["Upgrade": "x", "Connection": "upgrade"]), .close],
        ] as [[ScriptedOrigin.Step]]
    )
    func malformedHeads(_ steps: [ScriptedOrigin.Step]) async throws {
        let origin = try ScriptedOrigin { _ in steps }
        let outcome = try await Outcome.performing(FileExchangeRequest(method: "GET", url: "\(origin.url)/a"))
        #expect(outcome.status == nil && outcome.ends == [.badResponse])
    }

    @Test("B14 a head that ends early is a lost connection, and a malformed chunk is not")
    func incompleteResponses() async throws {
        let head = ScriptedOrigin.Step.head(200, headers: ["Transfer-Encoding": "chunked"])
        for (code, steps) in [
            (.connectionLost, [.send(Array("HTTP/1.1 200 OK\r\nContent-Le".utf8)), .close]),
            (.badResponse, [head, .send(Array("-5\r\n".utf8)), .close]),
        ] as [(EideticError.Code, [ScriptedOrigin.Step])] {
            let origin = try ScriptedOrigin { _ in steps }
            let outcome = try await Outcome.performing(FileExchangeRequest(method: "GET", url: "\(origin.url)/a"))
            #expect(outcome.ends == [code])
        }
    }

    @Test("B14 a length that is repeated is a length")
    func repeatedLengths() async throws {
        let origin = try ScriptedOrigin { _ in
            [.head(200, headers: ["Content-Length": "3", "Content-Length": "3, 03,"]), .send([1, 2, 3])]
        }
        let outcome = try await Outcome.performing(FileExchangeRequest(method: "GET", url: "\(origin.url)/a"))
        #expect(outcome.body == [1, 2, 3] && outcome.ends == [nil])
    }
}

/// What the receiver of an exchange got; `ends` has the code of each end, `nil` without a failure.
struct Outcome: Sendable {
    var status: Int?
    var body: [UInt8] = []
    var ends: [EideticError.Code?] = []

    /// Performs exchanges, one after another, on a thread of their own.
    static func performing(
        _ request: FileExchangeRequest,
        count: Int = 1,
        authority: String? = nil
    ) async throws -> Outcome {
        var configuration = CurlConfiguration(userAgent: "Eidetic")
        configuration.certificateAuthorityFile = authority
        return try await withCheckedThrowingContinuation { [configuration] continuation in
            Thread.start(name: "transfer") {
                continuation.resume(with: Result { try run(request, count: count, configuration) })
            }
        }
    }

    private static func run(
        _ request: FileExchangeRequest,
        count: Int,
        _ configuration: CurlConfiguration
    ) throws(EideticError) -> Outcome {
        let loop = FileTransferLoop(configuration: configuration) { SystemTime().uptime },
            receiver = Receiver()
        var descriptors: [PollDescriptor] = []
        for _ in 0..<count {
            _ = try loop.start(request, delegate: receiver)
            loop.run()
            while !loop.exchanges.isEmpty {
                loop.wait(for: &descriptors, timeout: .seconds(1))
                loop.run()
            }
        }
        return receiver.outcome
    }

    private final class Receiver: FileExchangeDelegate {
        var outcome = Outcome()

        func receive(provisional response: FileResponse) {}
        func receive(_ response: FileResponse) throws(EideticError) { outcome.status = response.status }
        func receive(body chunk: UnsafeRawBufferPointer) throws(EideticError) { outcome.body += chunk }
        func read(into buffer: UnsafeMutableRawBufferPointer) throws(EideticError) -> Int { 0 }
        func seek(to offset: Int) -> Bool { false }
        func finish(failure: EideticError?) { outcome.ends.append(failure?.code) }
    }
}
