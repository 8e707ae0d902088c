import EideticCore
import EideticFetch
import EideticTestSupport
import Testing

@Suite("Bodies", .timeLimit(.minutes(1)))
struct BodyTests {
    /// What `gzip` makes of bytes, or of so many zeros.
    private func gzip(_ bytes: [UInt8]) async throws -> [UInt8] {
        try await Subprocess.run("gzip", ["-c"], input: bytes).output
    }

    @Test("L20 a compressed body arrives decompressed, and its progress has no whole")
    func compressed() async throws {
        let packed = try await gzip(Fixture.picture(50_000))
        let origin = try ScriptedOrigin { _ in [.answer(200, ["Content-Encoding": "gzip"], packed)] }
        let reports = Guarded<[FetchProgress]>([])
        let response = try await Downloader().fetch(FetchRequest(url: origin.url)) { progress in
            reports.withLock { $0.append(progress) }
        }
        #expect(response.bytes == Fixture.picture(50_000))
        #expect(response.metrics.bodyBytes == packed.count)
        #expect(reports.withLock { $0.last } == FetchProgress(received: 50_000, expected: nil))
    }

    @Test("L20 a body that blows up when it is decompressed is refused at the limit")
    func bomb() async throws {
        let command = "(printf '\\211PNG\\r\\n\\032\\n'; head -c 300000000 /dev/zero) | gzip -c"
        let packed = try await Subprocess.run("sh", ["-c", command]).output
        #expect(packed.count < 400_000)
        let origin = try ScriptedOrigin { _ in [.answer(200, ["Content-Encoding": "gzip"], packed)] }
        var request = try FetchRequest(url: origin.url)
        request.byteLimit = .mebibytes(1)
        let error = await failure { [request] () async throws(EideticError) in try await Downloader().fetch(request) }
        #expect(error?.code == .limitExceeded)
    }

    @Test("L20 a body that says it is compressed and is not is refused")
    func notCompressed() async throws {
        let origin = try ScriptedOrigin { _ in [.answer(200, ["Content-Encoding": "gzip"], Fixture.picture())] }
        let error = await failure { () async throws(EideticError) in try await Downloader().fetch(origin.url) }
        #expect(error?.code == .badResponse)
    }

    @Test("L08 progress counts up to the whole, and the whole is a case of its own where it is unknown")
    func progress() async throws {
        let origin = try ScriptedOrigin { request in
            let body = Fixture.picture(300_000)
            if request.path == "/known" { return [.answer(200, [:], body)] }
            return [.head(200, ["Transfer-Encoding": "chunked"]), .chunk(body), .chunk([])]
        }
        for (path, expected) in [("/known", 300_000), ("/unknown", nil)] as [(String, Int?)] {
            let reports = Guarded<[FetchProgress]>([])
            _ = try await Downloader().fetch(FetchRequest(url: origin.url + path)) { progress in
                reports.withLock { $0.append(progress) }
            }
            let seen = reports.withLock { $0 }
            #expect(seen.allSatisfy { $0.expected == expected })
            #expect(seen.last?.received == 300_000)
            #expect(seen.map(\.received) == seen.map(\.received).sorted())
        }
    }

    @Test("L08 reports come no more often than asked, but for the first and the last")
    func throttled() async throws {
        let origin = try ScriptedOrigin { _ in [.answer(200, [:], Fixture.picture(3_000_000))] }
        var configuration = Downloader.Configuration()
        configuration.minimumProgressInterval = .seconds(3_600)
        configuration.time = ManualTime()
        let reports = Guarded<[FetchProgress]>([])
        _ = try await Downloader(configuration).fetch(FetchRequest(url: origin.url)) { progress in
            reports.withLock { $0.append(progress) }
        }
        #expect(reports.withLock { $0.map(\.received) } == [0, 3_000_000])
    }

    @Test("L04 bytes beyond the announced length are not part of the picture")
    func surplus() async throws {
        let origin = try ScriptedOrigin { _ in
            [.head(200, ["Content-Length": "1000"]), .send(Fixture.picture(1_000) + [1, 2, 3]), .close]
        }
        #expect(try await Downloader().fetch(origin.url).bytes == Fixture.picture(1_000))
    }

    @Test("L04 a body without a length ends with its connection")
    func noLength() async throws {
        let origin = try ScriptedOrigin { _ in [.head(200), .send(Fixture.picture(70_000)), .close] }
        #expect(try await Downloader().fetch(origin.url).bytes == Fixture.picture(70_000))
    }

    @Test("L02 with requiresPicture off any body is taken")
    func anyBody() async throws {
        let origin = try ScriptedOrigin { _ in [.answer(200, ["Content-Type": "text/html"], Fixture.webPage)] }
        var request = try FetchRequest(url: origin.url)
        request.requiresPicture = false
        #expect(try await Downloader().fetch(request).bytes == Fixture.webPage)
    }

    @Test("L04 an error page of any length is not read to its end")
    func errorPage() async throws {
        let origin = try ScriptedOrigin { _ in [.head(404), .sendRepeatedly(Array(repeating: 65, count: 65_536))] }
        let error = await failure { () async throws(EideticError) in try await Downloader().fetch(origin.url) }
        #expect(error?.httpStatus == 404)
    }
}
