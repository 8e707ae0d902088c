import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

@Suite("Bodies", .timeLimit(.minutes(1)))
struct BodyTests {
    /// Compresses bytes with `gzip`.
    private func gzipped(_ bytes: [UInt8]) async throws -> [UInt8] {
        try await Subprocess.run("gzip", arguments: ["-c"], input: bytes).output
    }

    @Test("L20 a compressed body is decompressed, and its progress has no expected length")
    func compressed() async throws {
        let compressed = try await gzipped(Fixture.image(length: 50_000))
        let origin = try ScriptedOrigin { _ in [.response(200, headers: ["Content-Encoding": "gzip"], body: compressed)]
        }
        let reports = Guarded<[LoadProgress]>([])
        let response = try await Downloader().fetch(FetchRequest(url: origin.url)) { progress in
            reports.withLock { $0.append(progress) }
        }
        #expect(response.bytes == Fixture.image(length: 50_000))
        #expect(response.metrics.bodyBytes == compressed.count)
        #expect(reports.withLock { $0.last } == LoadProgress(received: 50_000, expected: nil))
    }

    @Test("L20 a decompression bomb is refused at the limit")
    func bomb() async throws {
        let command = "(printf '\\211PNG\\r\\n\\032\\n'; head -c 300000000 /dev/zero) | gzip -c"
        let compressed = try await Subprocess.run("sh", arguments: ["-c", command]).output
        #expect(compressed.count < 400_000)
        let origin = try ScriptedOrigin { _ in [.response(200, headers: ["Content-Encoding": "gzip"], body: compressed)]
        }
        var request = try FetchRequest(url: origin.url)
        request.byteLimit = .mebibytes(1)
        let error = await failure { [request] () async throws(EideticError) in try await Downloader().fetch(request) }
        #expect(error?.code == .limitExceeded)
    }

    @Test("L20 a body that is not compressed as its Content-Encoding declares is refused")
    func notCompressed() async throws {
        let origin = try ScriptedOrigin { _ in
            [.response(200, headers: ["Content-Encoding": "gzip"], body: Fixture.image())]
        }
        let error = await failure { () async throws(EideticError) in try await Downloader().fetch(url: origin.url) }
        #expect(error?.code == .badResponse)
    }

    @Test("L08 progress grows to the length of the body, and has no expected length if that is unknown")
    func progress() async throws {
        let origin = try ScriptedOrigin { request in
            let body = Fixture.image(length: 300_000)
            if request.path == "/known" { return [.response(200, headers: [:], body: body)] }
            return [.head(200, headers: ["Transfer-Encoding": "chunked"]), .chunk(body), .chunk([])]
        }
        for (path, expected) in [("/known", 300_000), ("/unknown", nil)] as [(String, Int?)] {
            let reports = Guarded<[LoadProgress]>([])
            _ = try await Downloader().fetch(FetchRequest(url: origin.url + path)) { progress in
                reports.withLock { $0.append(progress) }
            }
            let received = reports.withLock { $0 }
            #expect(received.allSatisfy { $0.expected == expected })
            #expect(received.last?.received == 300_000)
            #expect(received.map(\.received) == received.map(\.received).sorted())
        }
    }

    @Test("L08 progress is reported at the minimum interval, and first and last in any case")
    func throttled() async throws {
        let origin = try ScriptedOrigin { _ in [.response(200, headers: [:], body: Fixture.image(length: 3_000_000))] }
        var configuration = Downloader.Configuration()
        configuration.minimumProgressInterval = .seconds(3_600)
        configuration.time = ManualTime()
        let reports = Guarded<[LoadProgress]>([])
        _ = try await Downloader(configuration).fetch(FetchRequest(url: origin.url)) { progress in
            reports.withLock { $0.append(progress) }
        }
        #expect(reports.withLock { $0.map(\.received) } == [0, 3_000_000])
    }

    @Test("L04 bytes beyond the announced length are not part of the body")
    func surplus() async throws {
        let origin = try ScriptedOrigin { _ in
            [.head(200, headers: ["Content-Length": "1000"]), .send(Fixture.image(length: 1_000) + [1, 2, 3]), .close]
        }
        #expect(try await Downloader().fetch(url: origin.url).bytes == Fixture.image(length: 1_000))
    }

    /// Browsers ignore a length that is larger than any number, as curl does.
    @Test(
        "L04 a body without a length, or with one that is too large, ends with its connection",
        arguments: [[:], ["Content-Length": "99999999999999999999"]]
    )
    func noLength(headers: [String: String]) async throws {
        let lines = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        let head = Array("HTTP/1.1 200 OK\r\n\(lines)\r\n".utf8)
        let origin = try ScriptedOrigin { _ in [.send(head + Fixture.image(length: 70_000)), .close] }
        #expect(try await Downloader().fetch(url: origin.url).bytes == Fixture.image(length: 70_000))
    }

    /// Fields beside chunks that curl 7.88 and Chromium 156 ignore.
    static let ignoredLengths = [
        "Content-Length: 3\r\nContent-Length: 2", "Content-Length: 3, 2", "Content-Length: 5;x", "Content-Length : 9",
        "Content-Length: 999999999999999",
    ]

    @Test("L04 a length beside chunks has no meaning (RFC 9112, 6.3)", arguments: ignoredLengths, [true, false])
    func lengthsOfChunks(length: String, isFirst: Bool) async throws {
        let coding = "Transfer-Encoding: Chunked"
        let fields = isFirst ? "\(length)\r\n\(coding)" : "\(coding)\r\n\(length)"
        let head = Array("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n".utf8)
        let image = Fixture.image(length: 5_000)
        let origin = try ScriptedOrigin { _ in [.send(head), .chunk(image), .chunk([])] }
        #expect(try await Downloader().fetch(url: origin.url).bytes == image)
        let outcome = try await Outcome.performing(FileExchangeRequest(method: "GET", url: origin.url))
        #expect(outcome.status == 200 && outcome.body == image && outcome.ends == [nil])
    }

    @Test(
        "L04 a length has no meaning in a response that has no body (RFC 9112, 6.3)",
        arguments: [204, 304],
        ["3\r\nContent-Length: 2", "3, 2", "x", "-1", "99999999999"]
    )
    func lengthsWithoutBody(status: Int, length: String) async throws {
        let head = Array("HTTP/1.1 \(status) None\r\nContent-Length: \(length)\r\n\r\n".utf8)
        let origin = try ScriptedOrigin { _ in [.send(head)] }
        var request = try FetchRequest(url: origin.url)
        request.requiresImage = false
        request.headers["If-None-Match"] = "\"a\""
        let response = try await Downloader().fetch(request)
        #expect(response.status == status && response.bytes.isEmpty)
        let outcome = try await Outcome.performing(FileExchangeRequest(method: "GET", url: origin.url))
        #expect(outcome.status == status && outcome.ends == [nil])
    }

    @Test("L02 without requiresImage any body is accepted")
    func anyBody() async throws {
        let origin = try ScriptedOrigin { _ in
            [.response(200, headers: ["Content-Type": "text/html"], body: Fixture.webPage)]
        }
        var request = try FetchRequest(url: origin.url)
        request.requiresImage = false
        #expect(try await Downloader().fetch(request).bytes == Fixture.webPage)
    }

    @Test("L04 an endless error page is not read completely")
    func errorPage() async throws {
        let origin = try ScriptedOrigin { _ in [.head(404), .sendRepeatedly(Array(repeating: 65, count: 65_536))] }
        let error = await failure { () async throws(EideticError) in try await Downloader().fetch(url: origin.url) }
        #expect(error?.httpStatus == 404)
    }
}
