import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

@Suite("Streams", .timeLimit(.minutes(1)))
struct StreamTests {
    @Test("L10 a stream has the head first and then the body in chunks")
    func pieces() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { request in
            if request.path == "/moved" { return [.response(302, headers: ["Location": "/a.png"])] }
            return [
                .head(200, headers: ["Content-Length": "100000"]), .send(Fixture.image(length: 500)), .wait(gate),
                .send(Fixture.imageRemainder(from: 500, of: 100_000)),
            ]
        }
        let stream = try await Downloader().stream(FetchRequest(url: origin.url + "/moved"))
        #expect(stream.status == 200)
        #expect(stream.expectedLength == 100_000)
        #expect(stream.effectiveURL == origin.url + "/a.png")
        var bytes: [UInt8] = []
        for try await chunk in stream {
            bytes += chunk
            if bytes.count == 500 { gate.open() }
        }
        #expect(bytes == Fixture.image(length: 100_000))
    }

    @Test("L10 a slow reader applies back-pressure to the server")
    func backPressure() async throws {
        let sent = Gate()
        let chunk = [UInt8](repeating: 7, count: 65_536)
        let origin = try ScriptedOrigin { request in
            if request.path.hasPrefix("/small") { return [.response(200, headers: [:], body: Fixture.image())] }
            return [
                .head(200, headers: ["Content-Length": "\(1_000 * chunk.count + 8)"]), .send(Fixture.image(length: 8)),
                .sendRepeatedly(chunk, times: 1_000), .open(sent),
            ]
        }
        let downloader = Downloader()
        let stream = try await downloader.stream(FetchRequest(url: origin.url + "/large"))
        var iterator = stream.makeAsyncIterator()
        var count = try await iterator.next()?.count ?? 0
        for number in 0..<50 { _ = try await downloader.fetch(url: "\(origin.url)/small?\(number)") }
        #expect(!sent.isOpen)
        while let chunk = try await iterator.next() { count += chunk.count }
        #expect(count == 1_000 * 65_536 + 8)
        await sent.wait()
    }

    @Test("L20 a chunk that waits for a slow reader counts once for the rate limit")
    func paysOnce() async throws {
        let size = 8_000_000
        let origin = try ScriptedOrigin { request in
            request.path == "/large"
                ? [.response(200, headers: [:], body: Fixture.image(length: size))] : [.response(304)]
        }
        let time = ManualTime()
        var configuration = Downloader.Configuration()
        configuration.time = time
        // The tokens are just enough for the body; the clock does not advance any more.
        configuration.maximumBytesPerSecond = 82_000_000
        let downloader = Downloader(configuration)
        // The engine's clock starts, and then advances.
        _ = try await downloader.fetch(url: origin.url)
        time.advance(by: .milliseconds(200))
        let stream = try await downloader.stream(FetchRequest(url: origin.url + "/large"))
        var iterator = stream.makeAsyncIterator()
        var count = 0
        while let chunk = try await iterator.next() {
            count += chunk.count
            // The engine runs its loop meanwhile, and pauses for the reader.
            for number in 0..<4 { _ = try await downloader.fetch(url: "\(origin.url)/\(count).\(number)") }
        }
        #expect(count == size)
    }

    @Test("L10 a body that is no image fails before the stream, a later error is thrown by the stream")
    func failures() async throws {
        let origin = try ScriptedOrigin { request in
            if request.path == "/page" {
                return [.response(200, headers: ["Content-Type": "text/html"], body: Fixture.webPage)]
            }
            return [.head(200, headers: ["Content-Length": "1000"]), .send(Fixture.image(length: 500)), .close]
        }
        let downloader = Downloader()
        let page = try FetchRequest(url: origin.url + "/page")
        let error = await failure { () async throws(EideticError) in try await downloader.stream(page) }
        #expect(error?.code == .notAnImage)
        let stream = try await downloader.stream(FetchRequest(url: origin.url + "/cut"))
        var count = 0
        do {
            for try await chunk in stream { count += chunk.count }
            Issue.record("the stream ended as if it were complete")
        } catch {
            #expect(error.code == .lengthMismatch)
        }
        #expect(count == 500)
    }

    @Test("L10 a released stream frees its slot, and a cancelled reader returns at once")
    func leaving() async throws {
        let gate = Gate()
        let origin = try ScriptedOrigin { request in
            if request.path == "/small" { return [.response(200, headers: [:], body: Fixture.image())] }
            return [.head(200), .send(Fixture.image()), .wait(gate)]
        }
        var configuration = Downloader.Configuration()
        configuration.maximumConcurrent = 1
        // No time-out frees the slot.
        configuration.time = ManualTime()
        let downloader = Downloader(configuration)
        do {
            let stream = try await downloader.stream(FetchRequest(url: origin.url + "/endless"))
            #expect(stream.status == 200)
        }
        #expect(try await downloader.fetch(url: origin.url + "/small").status == 200)
        let request = try FetchRequest(url: origin.url + "/endless")
        let task = Task {
            for try await _ in try await downloader.stream(request) {}
        }
        await origin.waitForRequests(count: 3)
        task.cancel()
        await #expect(throws: EideticError.self) { try await task.value }
        #expect(try await downloader.fetch(url: origin.url + "/small").status == 200)
    }
}
