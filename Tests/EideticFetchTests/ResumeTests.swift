import EideticCore
import EideticFetch
import EideticTestSupport
import Testing

@Suite("Resuming", .timeLimit(.minutes(1)))
struct ResumeTests {
    private let picture = Fixture.picture(200_000)
    private let half = 100_000

    /// Sends half of the picture the first time and breaks off; then what `rest` says.
    private func origin(
        _ validator: KeyValuePairs<String, String> = ["ETag": "\"v1\""],
        rest: @escaping @Sendable (ScriptedOrigin.Request) -> [ScriptedOrigin.Step]
    ) throws -> ScriptedOrigin {
        let (picture, half, count) = (picture, half, Counter())
        let fields = validator.map { "\($0.key): \($0.value)\r\n" }.joined()
        let head = "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(picture.count)\r\n\r\n"
        return try ScriptedOrigin { request in
            guard count.next() == 0 else { return rest(request) }
            return [.send(Array(head.utf8) + picture[..<half]), .close]
        }
    }

    private func load(_ origin: ScriptedOrigin) async throws -> FetchResponse {
        var configuration = Downloader.Configuration()
        configuration.retryClock = ManualRetryClock()
        var request = try FetchRequest(url: origin.url + "/a.png")
        request.retriesFailed = true
        return try await Downloader(configuration).fetch(request)
    }

    @Test("L24 a broken download goes on where it stopped, when the server still has the same picture")
    func resumes() async throws {
        let (picture, half) = (picture, half)
        let origin = try origin { request in
            let range = "bytes \(half)-\(picture.count - 1)/\(picture.count)"
            return [.answer(206, ["ETag": "\"v1\"", "Content-Range": range], Array(picture[half...]))]
        }
        let response = try await load(origin)
        #expect(response.bytes == picture)
        #expect(response.metrics.resumedBytes == half)
        #expect(origin.requests[1].headers["range"] == "bytes=\(half)-")
        #expect(origin.requests[1].headers["if-range"] == "\"v1\"")
        #expect(origin.requests[1].headers["accept-encoding"] == "identity")
    }

    @Test("L24 a picture that has changed meanwhile is loaded anew")
    func changed() async throws {
        let new = Array(Fixture.picture(150_000).reversed())
        let origin = try origin { _ in [.answer(200, ["ETag": "\"v2\""], Fixture.picture(8) + new)] }
        let response = try await load(origin)
        #expect(response.bytes == Fixture.picture(8) + new)
        #expect(response.metrics.resumedBytes == 0)
    }

    @Test(
        "L24 a range that does not fit is not joined: the picture is loaded anew",
        arguments: [
            ["Content-Range": "bytes 5-199999/200000", "ETag": "\"v1\""],
            ["Content-Range": "bytes 100000-199999/300000", "ETag": "\"v1\""],
            ["Content-Range": "bytes 100000-199999/200000", "ETag": "\"v2\""],
            ["Content-Range": "nonsense"],
            // The servers' right (RFC 9110, 15.3.7), and a whole picture to who looks at the length alone.
            ["Content-Range": "bytes 100000-149999/200000", "ETag": "\"v1\"", "Content-Length": "50000"],
            ["Content-Range": "bytes 100000-199999/200000", "Content-Encoding": "gzip"],
        ] as [[String: String]]
    )
    func wrongRange(_ headers: [String: String]) async throws {
        let (picture, half) = (picture, half)
        let origin = try origin { request in
            guard request.headers["range"] != nil else { return [.answer(200, [:], picture)] }
            let fields = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
            let length = headers["Content-Length"].flatMap(Int.init) ?? picture.count - half
            let announced = headers["Content-Length"] == nil ? "Content-Length: \(length)\r\n" : ""
            let head = "HTTP/1.1 206 Partial Content\r\n\(fields)\(announced)\r\n"
            return [.send(Array(head.utf8) + picture[half..<half + length])]
        }
        #expect(try await load(origin).bytes == picture)
        #expect(origin.requests.map { $0.headers["range"] != nil } == [false, true, false])
    }

    @Test("L24 a rest with another date is not joined to what a date proves", arguments: [true, false])
    func dates(isSame: Bool) async throws {
        let (picture, half) = (picture, half)
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let origin = try origin(["Last-Modified": date, "Date": "Sun, 06 Nov 1994 09:49:37 GMT"]) { request in
            guard request.headers["range"] != nil else { return [.answer(200, [:], picture)] }
            let range = "bytes \(half)-\(picture.count - 1)/\(picture.count)"
            let current = isSame ? date : "Sun, 06 Nov 1994 08:50:37 GMT"
            return [.answer(206, ["Last-Modified": current, "Content-Range": range], Array(picture[half...]))]
        }
        let response = try await load(origin)
        #expect(response.bytes == picture)
        #expect(response.metrics.resumedBytes == (isSame ? half : 0))
    }

    @Test(
        "L24 a beginning outlives a server that is busy, and a rest that breaks off and does not say how long the whole is",
        arguments: [true, false]
    )
    func outlives(isBusy: Bool) async throws {
        let (picture, half, count) = (picture, half, Counter())
        let origin = try origin { request in
            let start = Int(request.headers["range"]?.split(whereSeparator: { "=-".contains($0) }).last ?? "") ?? 0
            let last = picture.count - 1
            guard count.next() == 0 else {
                let range = "bytes \(start)-\(last)/\(picture.count)"
                return [.answer(206, ["ETag": "\"v1\"", "Content-Range": range], Array(picture[start...]))]
            }
            if isBusy { return [.answer(503)] }
            let fields: KeyValuePairs = [
                "ETag": "\"v1\"", "Content-Range": "bytes \(start)-\(last)/*",
                "Content-Length": "\(picture.count - start)",
            ]
            return [.head(206, fields), .send(Array(picture[start..<start + 10])), .close]
        }
        let response = try await load(origin)
        #expect(response.bytes == picture)
        #expect(response.metrics.resumedBytes == (isBusy ? half : half + 10))
        #expect(origin.requests.count == 3)
    }

    @Test("L24 a rest that ends too early is not taken for the whole")
    func shortRest() async throws {
        let (picture, half, count) = (picture, half, Counter())
        let origin = try origin { request in
            guard request.headers["range"] != nil, count.next() == 0 else { return [.answer(200, [:], picture)] }
            let range = "bytes \(half)-\(picture.count - 1)/\(picture.count)"
            let fields: KeyValuePairs = ["ETag": "\"v1\"", "Content-Range": range, "Transfer-Encoding": "chunked"]
            return [.head(206, fields), .chunk(Array(picture[half..<half + 10])), .chunk([])]
        }
        #expect(try await load(origin).bytes == picture)
    }

    @Test("L24 a part that the caller asked for is not continued as if it were the beginning")
    func partOfTheCallers() async throws {
        let count = Counter()
        let origin = try ScriptedOrigin { request in
            let isFirst = count.next() == 0
            let range = "bytes 50-149/1000"
            guard request.headers["range"] == "bytes=50-149" else {
                return [.answer(206, ["ETag": "\"v1\"", "Content-Range": "bytes 60-999/1000"], Fixture.rest(60))]
            }
            let fields: KeyValuePairs = ["ETag": "\"v1\"", "Content-Range": range, "Content-Length": "100"]
            let part = Array(Fixture.picture()[50..<150])
            return isFirst
                ? [.head(206, fields), .send(Array(part[..<60])), .close] : [.head(206, fields), .send(part)]
        }
        var configuration = Downloader.Configuration()
        configuration.retryClock = ManualRetryClock()
        var request = try FetchRequest(url: origin.url)
        request.headers["Range"] = "bytes=50-149"
        request.requiresPicture = false
        request.retriesFailed = true
        #expect(try await Downloader(configuration).fetch(request).bytes == Array(Fixture.picture()[50..<150]))
    }

    @Test("L24 a length that cannot be is refused, and no sum of lengths overflows")
    func hugeRest() async throws {
        let (picture, half) = (picture, half)
        let origin = try origin { request in
            guard request.headers["range"] != nil else { return [.answer(200, [:], picture)] }
            let fields: KeyValuePairs = [
                "ETag": "\"v1\"", "Content-Range": "bytes \(half)-\(picture.count - 1)/\(picture.count)",
                "Content-Length": "\(Int.max)",
            ]
            return [.head(206, fields), .send(Array(picture[half...])), .close]
        }
        var configuration = Downloader.Configuration()
        configuration.retryClock = ManualRetryClock()
        var request = try FetchRequest(url: origin.url + "/a.png")
        request.retriesFailed = true
        request.byteLimit = ByteCount(.max)
        let downloader = Downloader(configuration)
        let error = await failure { [request] () async throws(EideticError) in try await downloader.fetch(request) }
        #expect(error?.code == .limitExceeded)
    }

    @Test("L24 416 for what is asked again leads to a new beginning")
    func notSatisfiable() async throws {
        let picture = picture
        let origin = try origin { request in
            request.headers["range"] != nil ? [.answer(416)] : [.answer(200, [:], picture)]
        }
        #expect(try await load(origin).bytes == picture)
    }

    @Test(
        "L24 without a strong validator, or of a compressed body, nothing is joined",
        arguments: [
            [:], ["ETag": "\"v\r1\""], ["ETag": "W/\"v1\""], ["ETag": "\"v1\"", "Accept-Ranges": "none"],
            ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:50 GMT"],
        ] as [KeyValuePairs<String, String>]
    )
    func weak(_ headers: KeyValuePairs<String, String>) async throws {
        let picture = picture
        let origin = try origin(headers) { _ in [.answer(200, [:], picture)] }
        #expect(try await load(origin).bytes == picture)
        #expect(origin.requests[1].headers["range"] == nil)
    }

    @Test("L24 a range that nobody asked for is refused")
    func unasked() async throws {
        let origin = try ScriptedOrigin { _ in
            [.answer(206, ["Content-Range": "bytes 10-19/20"], Fixture.picture(10))]
        }
        let error = await failure { () async throws(EideticError) in try await Downloader().fetch(origin.url) }
        #expect(error?.code == .badResponse)
    }

    // MARK: On disk

    private func configuration(_ directory: TemporaryDirectory) -> Downloader.Configuration {
        var configuration = Downloader.Configuration()
        configuration.partialDirectory = directory.path("partial")
        return configuration
    }

    private func files(_ directory: TemporaryDirectory) -> [String] {
        ((try? FileSystem().names(in: directory.path("partial"))) ?? []).map { directory.path("partial/\($0)") }
    }

    /// Loads once, which breaks off; `change` may then touch what was kept; loads again with a new downloader.
    private func loadTwice(
        in directory: TemporaryDirectory,
        change: (inout Downloader.Configuration) throws -> Void = { _ in }
    ) async throws -> (response: FetchResponse, ranges: [String?]) {
        let (picture, half) = (picture, half)
        let origin = try origin { request in
            guard request.headers["range"] != nil else { return [.answer(200, [:], picture)] }
            let range = "bytes \(half)-\(picture.count - 1)/\(picture.count)"
            return [.answer(206, ["ETag": "\"v1\"", "Content-Range": range], Array(picture[half...]))]
        }
        var configuration = configuration(directory)
        let first = Downloader(configuration)
        let error = await failure { () async throws(EideticError) in try await first.fetch(origin.url) }
        #expect(error?.code == .lengthMismatch)
        #expect(files(directory).count == 1)
        try change(&configuration)
        let response = try await Downloader(configuration).fetch(origin.url)
        #expect(response.bytes == picture)
        return (response, origin.requests.map { $0.headers["range"] })
    }

    @Test("L24 what came is kept on disk, and another process goes on with it")
    func durable() async throws {
        let directory = try TemporaryDirectory("partial")
        let result = try await loadTwice(in: directory)
        #expect(result.response.metrics.resumedBytes == half)
        #expect(result.ranges == [nil, "bytes=\(half)-"])
        #expect(files(directory).isEmpty)
    }

    @Test(
        "L24 what one user was sent, or a server that was not verified, is not continued for another",
        arguments: [0, 1, 2]
    )
    func othersBeginning(_ kind: Int) async throws {
        let directory = try TemporaryDirectory("partial")
        let (picture, half, isFirst) = (picture, half, Counter())
        let origin = try ScriptedOrigin { _ in
            let head: ScriptedOrigin.Step = .head(200, ["ETag": "\"v1\"", "Content-Length": "\(picture.count)"])
            return isFirst.next() == 0 ? [head, .send(Array(picture[..<half])), .close] : [head, .send(picture)]
        }
        var request = try FetchRequest(url: origin.url)
        request.allowsInvalidCertificates = kind == 0
        var configuration = configuration(directory)
        if kind == 1 { configuration.credentials = { _ in .bearer("one") } }
        if kind == 2 { configuration.headers["Authorization"] = "Bearer one" }
        let first = Downloader(configuration)
        let error = await failure { [request] () async throws(EideticError) in try await first.fetch(request) }
        #expect(error?.code == .lengthMismatch)
        request.allowsInvalidCertificates = false
        configuration.credentials = { _ in .bearer("other") }
        configuration.headers = [:]
        #expect(try await Downloader(configuration).fetch(request).bytes == picture)
        #expect(origin.requests[1].headers["range"] == nil)
        #expect(files(directory).count == 1)
    }

    /// Why the rest of a beginning on disk is not loaded now.
    enum Hindrance: CaseIterable { case breaker, busy, offline, left }

    @Test("L24 a beginning on disk stays there while its rest cannot be had", arguments: Hindrance.allCases)
    func stays(_ hindrance: Hindrance) async throws {
        let directory = try TemporaryDirectory("partial")
        let (picture, half, count) = (picture, half, Counter())
        let origin = try ScriptedOrigin { _ in
            if count.next() > 0 { return hindrance == .breaker ? [.close] : [.answer(503)] }
            return [
                .head(200, ["ETag": "\"v1\"", "Content-Length": "\(picture.count)"]), .send(Array(picture[..<half])),
                .close,
            ]
        }
        var configuration = configuration(directory)
        let clock = ManualRetryClock(holds: hindrance == .offline || hindrance == .left)
        configuration.retryClock = clock
        let (plan, isKept) = (FaultPlan(), Gate())
        plan.before(.rename, at: 2) { isKept.open() }
        configuration.fileSystem = FileSystem(observer: plan)
        let first = Downloader(configuration)
        _ = await failure { () async throws(EideticError) in try await first.fetch(origin.url) }
        #expect(files(directory).count == 1)
        let second = Downloader(configuration)
        if hindrance == .breaker {
            for number in 0..<5 {
                _ = await failure { () async throws(EideticError) in try await second.fetch("\(origin.url)/\(number)") }
            }
        }
        let requests = origin.requests.count
        var request = try FetchRequest(url: origin.url)
        request.retriesFailed = hindrance == .offline || hindrance == .left
        let task = Task { [request] in
            await failure { () async throws(EideticError) in try await second.fetch(request) }
        }
        if request.retriesFailed { await clock.reached.wait() }
        if hindrance == .offline { second.isOffline = true; second.networkCameBack() }
        if hindrance == .left { task.cancel() }
        let error = await task.value
        // Who leaves does not wait for that.
        await isKept.wait()
        let expected: EideticError.Code =
            switch hindrance {
            case .breaker: .connectionLost
            case .busy: .httpStatus
            case .offline: .offline
            case .left: .cancelled
            }
        #expect(error?.code == expected)
        #expect(origin.requests.count == requests + (hindrance == .breaker ? 0 : 1))
        #expect(files(directory).count == 1)
    }

    @Test("L24 what killed writers left counts, and goes after a minute")
    func leftovers() async throws {
        let directory = try TemporaryDirectory("partial")
        let (picture, half) = (picture, half)
        let origin = try ScriptedOrigin { _ in
            [.head(200, ["ETag": "\"v1\"", "Content-Length": "200000"]), .send(Array(picture[..<half])), .close]
        }
        var configuration = configuration(directory)
        configuration.time = ManualTime(now: SystemTime().now + .seconds(61))
        try FileSystem().makeDirectories(directory.path("partial"))
        try directory.write([1, 2, 3], to: "partial/0123.partial.abc.tmp")
        let downloader = Downloader(configuration)
        _ = await failure { () async throws(EideticError) in try await downloader.fetch(origin.url) }
        #expect(files(directory).count == 1)
        #expect(files(directory).allSatisfy { $0.hasSuffix(".partial") })
    }

    @Test("L24 a beginning that was damaged or cut on disk is not used", arguments: [true, false])
    func damaged(isCut: Bool) async throws {
        let directory = try TemporaryDirectory("partial")
        let result = try await loadTwice(in: directory) { _ in
            var bytes = try FileSystem().contents(of: files(directory)[0])
            if isCut { bytes.removeLast(5) } else { bytes[bytes.count - 1] ^= 1 }
            try directory.write(bytes, to: "partial/\(files(directory)[0].split(separator: "/").last ?? "")")
        }
        #expect(result.ranges == [nil, nil])
    }

    @Test("L24 a beginning that is too old is not used")
    func old() async throws {
        let directory = try TemporaryDirectory("partial")
        let result = try await loadTwice(in: directory) { configuration in
            let time = ManualTime(now: SystemTime().now + .seconds(90_000))
            configuration.time = time
        }
        #expect(result.ranges == [nil, nil])
        #expect(files(directory).isEmpty)
    }

    @Test("L24 the bytes kept on disk are bounded, the oldest go")
    func bounded() async throws {
        let directory = try TemporaryDirectory("partial")
        let (picture, half) = (picture, half)
        let origin = try ScriptedOrigin { _ in
            [.head(200, ["ETag": "\"v1\"", "Content-Length": "200000"]), .send(Array(picture[..<half])), .close]
        }
        var configuration = configuration(directory)
        configuration.partialLimit = 250_000
        let downloader = Downloader(configuration)
        for number in 0..<5 {
            _ = await failure { () async throws(EideticError) in try await downloader.fetch("\(origin.url)/\(number)") }
        }
        #expect(files(directory).count == 2)
    }

    @Test("L24 a download that is left keeps nothing on disk")
    func cancelled() async throws {
        let directory = try TemporaryDirectory("partial")
        let (picture, half, gate, reached) = (picture, half, Gate(), Gate())
        let origin = try ScriptedOrigin { _ in
            [
                .head(200, ["ETag": "\"v1\"", "Content-Length": "200000"]), .send(Array(picture[..<half])),
                .reached(reached), .wait(gate),
            ]
        }
        let downloader = Downloader(configuration(directory))
        let request = try FetchRequest(url: origin.url)
        let task = Task { try await downloader.fetch(request) }
        await reached.wait()
        task.cancel()
        await #expect(throws: EideticError.self) { try await task.value }
        #expect(files(directory).isEmpty)
    }
}
