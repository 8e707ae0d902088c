import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

@Suite("Limits of parts in memory", .timeLimit(.minutes(2)))
struct PartLimitTests {
    /// Interrupts a download after `count` bytes, and returns the range of the next one.
    private func range(after count: Int) async throws -> String? {
        let body = Fixture.image(length: count), requests = Counter()
        let origin = try ScriptedOrigin { _ in
            if requests.next() > 0 { return [.response(404)] }
            let fields: KeyValuePairs = [
                "ETag": "\"v1\"", "Accept-Ranges": "bytes", "Content-Length": "\(count + 1_000)",
            ]
            return [.head(200, headers: fields), .send(body), .close]
        }
        var request = FetchRequest(origin.url)
        request.byteLimit = .mebibytes(64)
        let downloader = Downloader()
        for code in [EideticError.Code.lengthMismatch, .httpStatus] {
            let error = await failure { [request] () async throws(EideticError) in try await downloader.fetch(request) }
            #expect(error?.code == code)
        }
        return origin.requests[1].headers["range"]
    }

    @Test("L24 a part has at least 64 KiB and at most 32 MiB", arguments: [65_536, 32 << 20])
    func limits(limit: Int) async throws {
        for count in [limit - 1, limit, limit + 1] {
            let isKept = count >= 65_536 && count <= 32 << 20
            #expect(try await range(after: count) == (isKept ? "bytes=\(count)-" : nil), "\(count) bytes")
        }
    }

    @Test("L24 all parts together have at most 32 MiB: the oldest are removed")
    func total() async throws {
        let body = Fixture.image(length: 12 << 20)
        let origin = try ScriptedOrigin { request in
            if request.headers["range"] != nil { return [.response(404)] }
            let fields: KeyValuePairs = ["ETag": "\"v1\"", "Accept-Ranges": "bytes", "Content-Length": "20000000"]
            return [.head(200, headers: fields), .send(body), .close]
        }
        let downloader = Downloader()
        for number in 0..<4 {
            let url = "\(origin.url)/\(number)"
            _ = await failure { () async throws(EideticError) in try await downloader.fetch(url: url) }
        }
        #expect(downloader.parts.memory.usage == (2, 24 << 20))
        origin.removeRequests()
        for number in 0..<4 {
            let url = "\(origin.url)/\(number)"
            _ = await failure { () async throws(EideticError) in try await downloader.fetch(url: url) }
        }
        // The first two take the place of the others again.
        #expect(origin.requests.count == 4 && downloader.parts.memory.usage.bytes <= 32 << 20)
        downloader.parts.memory.removeAll()
        #expect(downloader.parts.memory.usage == (0, 0))
    }

    /// A server that closes each connection within the body.
    private static func cutOrigin() throws -> ScriptedOrigin {
        try ScriptedOrigin { _ in
            let fields: KeyValuePairs = ["ETag": "\"v1\"", "Accept-Ranges": "bytes", "Content-Length": "100000"]
            return [.head(200, headers: fields), .send(Fixture.image(length: 70_000)), .close]
        }
    }

    @Test("L24 a part in memory expires after a day")
    func expires() async throws {
        let time = ManualTime(), origin = try Self.cutOrigin(), downloader = Downloader(time: time)
        var ranges: [String?] = []
        for _ in 0..<3 {
            _ = await failure { () async throws(EideticError) in try await downloader.fetch(url: origin.url) }
            ranges.append(origin.requests.last?.headers["range"])
            time.advance(by: ranges.count == 1 ? .seconds(86_399) : .seconds(86_400))
        }
        #expect(ranges == [nil, "bytes=70000-", nil])
    }

    @Test("L24 each part in memory expires a day after its download, and is freed, also after the clock was set back")
    func expiresByItself() async throws {
        let time = ManualTime(), origin = try Self.cutOrigin(), downloader = Downloader(time: time)
        for number in 0..<2 {
            _ = await failure { () async throws(EideticError) in
                try await downloader.fetch(url: "\(origin.url)/\(number)")
            }
            time.set(now: Timestamp(seconds: time.now.seconds - 864_000))
            time.advance(by: .seconds(40_000))
        }
        #expect(downloader.parts.memory.usage.count == 2)
        time.advance(by: .seconds(6_400))
        #expect(!downloader.parts.has(of: FetchRequest(origin.url + "/0")))
        #expect(downloader.parts.memory.usage == (1, 70_000))
        time.advance(by: .seconds(40_000))
        #expect(!downloader.parts.has(of: FetchRequest(origin.url + "/other")))
        #expect(downloader.parts.memory.usage == (0, 0))
    }

    @Test("L24 a cancelled download whose hook hangs does not hold up the next one of its request")
    func hangingHook() async throws {
        let origin = try ScriptedOrigin { _ in [.response(200, headers: [:], body: Fixture.image())] }
        let reached = Gate(), release = Gate(), calls = Counter()
        var configuration = Downloader.Configuration()
        let clock = ManualRetryClock()
        configuration.retryClock = clock
        configuration.responseModifier = { response in
            if calls.next() == 0 {
                reached.open()
                // A hook that hangs does not notice that it is cancelled.
                await Task { await release.wait() }.value
            }
            return response
        }
        let downloader = Downloader(configuration), request = FetchRequest(origin.url + "/a")
        let first = Task { try await downloader.fetch(request) }
        await reached.wait()
        first.cancel()
        _ = await first.result
        #expect(downloader.parts.has(of: request))
        // The time is over for all of them together.
        for _ in 0..<3 { #expect(try await downloader.fetch(request).bytes == Fixture.image()) }
        #expect(clock.delays == [.seconds(2)])
        #expect(!downloader.parts.has(of: request))
        release.open()
    }
}

extension Downloader {
    fileprivate convenience init(time: ManualTime) {
        var configuration = Configuration()
        configuration.time = time
        self.init(configuration)
    }
}
