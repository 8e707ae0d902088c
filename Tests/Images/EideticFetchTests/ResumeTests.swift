import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Glibc
import Testing

@Suite("Resumed downloads", .timeLimit(.minutes(1)))
struct ResumeTests {
    private let image = Fixture.image(length: 200_000)
    private let half = 100_000

    /// Creates an origin that sends half of the image and disconnects; the closure has the later responses.
    private func makeOrigin(
        validator: KeyValuePairs<String, String> = ["ETag": "\"v1\"", "Accept-Ranges": "bytes"],
        isHeld: Bool = false,
        rest: @escaping @Sendable (ScriptedOrigin.Request) -> [ScriptedOrigin.Step]
    ) throws -> ScriptedOrigin {
        let (image, half, count) = (image, half, Counter())
        let fields = validator.map { "\($0.key): \($0.value)\r\n" }.joined()
        let head = "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(image.count)\r\n\r\n"
        return try ScriptedOrigin { request in
            guard count.next() == 0 else { return rest(request) }
            return [.send(Array(head.utf8) + image[..<half]), isHeld ? .wait(Gate()) : .close]
        }
    }

    private func load(_ origin: ScriptedOrigin) async throws -> FetchResponse {
        var configuration = Downloader.Configuration()
        configuration.retryClock = ManualRetryClock()
        var request = try FetchRequest(url: origin.url + "/a.png")
        request.ignoresFailureList = true
        return try await Downloader(configuration).fetch(request)
    }

    @Test("L24 an interrupted download is resumed if the server still has the same image")
    func resumes() async throws {
        let (image, half) = (image, half)
        let origin = try makeOrigin { request in
            let range = "bytes \(half)-\(image.count - 1)/\(image.count)"
            return [.response(206, headers: ["ETag": "\"v1\"", "Content-Range": range], body: Array(image[half...]))]
        }
        let response = try await load(origin)
        #expect(response.bytes == image)
        #expect(response.metrics.resumedBytes == half)
        #expect(origin.requests[1].headers["range"] == "bytes=\(half)-")
        #expect(origin.requests[1].headers["if-range"] == "\"v1\"")
        #expect(origin.requests[1].headers["accept-encoding"] == "identity")
    }

    @Test("L24 an image that has changed is loaded completely")
    func changed() async throws {
        let new = Array(Fixture.image(length: 150_000).reversed())
        let origin = try makeOrigin { _ in
            [.response(200, headers: ["ETag": "\"v2\""], body: Fixture.image(length: 8) + new)]
        }
        let response = try await load(origin)
        #expect(response.bytes == Fixture.image(length: 8) + new)
        #expect(response.metrics.resumedBytes == 0)
    }

    @Test(
        "L24 a range that does not match is not appended: the image is loaded completely",
        arguments: [
            ["Content-Range": "bytes 5-199999/200000", "ETag": "\"v1\""],
            ["Content-Range": "bytes 100000-199999/300000", "ETag": "\"v1\""],
            ["Content-Range": "bytes 100000-199999/200000", "ETag": "\"v2\""],
            ["Content-Range": "nonsense"],
            // Allowed by RFC 9110, 15.3.7; by its length alone it would complete the image.
            ["Content-Range": "bytes 100000-149999/200000", "ETag": "\"v1\"", "Content-Length": "50000"],
            ["Content-Range": "bytes 100000-199999/200000", "Content-Encoding": "gzip"],
        ] as [[String: String]]
    )
    func wrongRange(_ headers: [String: String]) async throws {
        let (image, half) = (image, half)
        let origin = try makeOrigin { request in
            guard request.headers["range"] != nil else { return [.response(200, headers: [:], body: image)] }
            let fields = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
            let length = headers["Content-Length"].flatMap(Int.init) ?? image.count - half
            let announced = headers["Content-Length"] == nil ? "Content-Length: \(length)\r\n" : ""
            let head = "HTTP/1.1 206 Partial Content\r\n\(fields)\(announced)\r\n"
            return [.send(Array(head.utf8) + image[half..<half + length])]
        }
        #expect(try await load(origin).bytes == image)
        #expect(origin.requests.map { $0.headers["range"] != nil } == [false, true, false])
    }

    @Test("L24 a remainder with another Last-Modified date is not appended", arguments: [true, false])
    func dates(isSame: Bool) async throws {
        let (image, half) = (image, half)
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let origin = try makeOrigin(validator: ["Last-Modified": date, "Date": "Sun, 06 Nov 1994 09:49:37 GMT"]) {
            request in
            guard request.headers["range"] != nil else { return [.response(200, headers: [:], body: image)] }
            let range = "bytes \(half)-\(image.count - 1)/\(image.count)"
            let current = isSame ? date : "Sun, 06 Nov 1994 08:50:37 GMT"
            return [
                .response(
                    206,
                    headers: ["Last-Modified": current, "Content-Range": range],
                    body: Array(image[half...])
                )
            ]
        }
        let response = try await load(origin)
        #expect(response.bytes == image)
        #expect(response.metrics.resumedBytes == (isSame ? half : 0))
    }

    @Test(
        "L24 a partial body is kept after status 503, and after an interrupted remainder of unknown total length",
        arguments: [true, false]
    )
    func outlives(isBusy: Bool) async throws {
        let (image, half, count) = (image, half, Counter())
        let origin = try makeOrigin { request in
            let start = Int(request.headers["range"]?.split(whereSeparator: { "=-".contains($0) }).last ?? "") ?? 0
            let last = image.count - 1
            guard count.next() == 0 else {
                let range = "bytes \(start)-\(last)/\(image.count)"
                return [
                    .response(206, headers: ["ETag": "\"v1\"", "Content-Range": range], body: Array(image[start...]))
                ]
            }
            if isBusy { return [.response(503)] }
            let fields: KeyValuePairs = [
                "ETag": "\"v1\"", "Content-Range": "bytes \(start)-\(last)/*",
                "Content-Length": "\(image.count - start)",
            ]
            return [.head(206, headers: fields), .send(Array(image[start..<start + 10])), .close]
        }
        let response = try await load(origin)
        #expect(response.bytes == image)
        #expect(response.metrics.resumedBytes == (isBusy ? half : half + 10))
        #expect(origin.requests.count == 3)
    }

    @Test("L24 a remainder that ends too early does not complete the body")
    func shortRest() async throws {
        let (image, half, count) = (image, half, Counter())
        let origin = try makeOrigin { request in
            guard request.headers["range"] != nil, count.next() == 0 else {
                return [.response(200, headers: [:], body: image)]
            }
            let range = "bytes \(half)-\(image.count - 1)/\(image.count)"
            let fields: KeyValuePairs = ["ETag": "\"v1\"", "Content-Range": range, "Transfer-Encoding": "chunked"]
            return [.head(206, headers: fields), .chunk(Array(image[half..<half + 10])), .chunk([])]
        }
        #expect(try await load(origin).bytes == image)
    }

    @Test("L24 a range that the caller requested is not resumed as if it were the beginning")
    func callersRange() async throws {
        let count = Counter()
        let origin = try ScriptedOrigin { request in
            let isFirst = count.next() == 0
            let range = "bytes 50-149/1000"
            guard request.headers["range"] == "bytes=50-149" else {
                return [
                    .response(
                        206,
                        headers: ["ETag": "\"v1\"", "Content-Range": "bytes 60-999/1000"],
                        body: Fixture.imageRemainder(from: 60)
                    )
                ]
            }
            let fields: KeyValuePairs = ["ETag": "\"v1\"", "Content-Range": range, "Content-Length": "100"]
            let part = Array(Fixture.image()[50..<150])
            return isFirst
                ? [.head(206, headers: fields), .send(Array(part[..<60])), .close]
                : [.head(206, headers: fields), .send(part)]
        }
        var configuration = Downloader.Configuration()
        configuration.retryClock = ManualRetryClock()
        var request = try FetchRequest(url: origin.url)
        request.headers["Range"] = "bytes=50-149"
        request.requiresImage = false
        request.ignoresFailureList = true
        #expect(try await Downloader(configuration).fetch(request).bytes == Array(Fixture.image()[50..<150]))
    }

    @Test("L24 an impossible length is refused, and no sum of lengths overflows")
    func hugeRest() async throws {
        let (image, half) = (image, half)
        let origin = try makeOrigin { request in
            guard request.headers["range"] != nil else { return [.response(200, headers: [:], body: image)] }
            let fields: KeyValuePairs = [
                "ETag": "\"v1\"", "Content-Range": "bytes \(half)-\(image.count - 1)/\(image.count)",
                "Content-Length": "\(Int.max)",
            ]
            return [.head(206, headers: fields), .send(Array(image[half...])), .close]
        }
        var configuration = Downloader.Configuration()
        configuration.retryClock = ManualRetryClock()
        var request = try FetchRequest(url: origin.url + "/a.png")
        request.ignoresFailureList = true
        request.byteLimit = ByteCount(.max)
        let downloader = Downloader(configuration)
        let error = await failure { [request] () async throws(EideticError) in try await downloader.fetch(request) }
        #expect(error?.code == .limitExceeded)
    }

    @Test("L24 status 416 for the remainder leads to a complete download")
    func notSatisfiable() async throws {
        let image = image
        let origin = try makeOrigin { request in
            request.headers["range"] != nil ? [.response(416)] : [.response(200, headers: [:], body: image)]
        }
        #expect(try await load(origin).bytes == image)
    }

    @Test(
        "L24 without a strong validator nothing is resumed",
        arguments: [
            [:], ["ETag": "\"v\r1\""], ["ETag": "W/\"v1\""], ["ETag": "\"v1\"", "Accept-Ranges": "none"],
            ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:50 GMT"],
        ] as [KeyValuePairs<String, String>]
    )
    func weak(_ headers: KeyValuePairs<String, String>) async throws {
        let image = image
        let origin = try makeOrigin(validator: headers) { _ in [.response(200, headers: [:], body: image)] }
        #expect(try await load(origin).bytes == image)
        #expect(origin.requests[1].headers["range"] == nil)
    }

    @Test("L24 a range that was not requested is refused")
    func unasked() async throws {
        let origin = try ScriptedOrigin { _ in
            [.response(206, headers: ["Content-Range": "bytes 10-19/20"], body: Fixture.image(length: 10))]
        }
        let error = await failure { () async throws(EideticError) in try await Downloader().fetch(url: origin.url) }
        #expect(error?.code == .badResponse)
    }

    /// As browsers and curl do.
    @Test(
        "L24 status 206 with the whole body, or without a range, to a request without a range is the image",
        arguments: ["bytes 0-9/10", "bytes 0-9/*", "bytes 0-/*", "none", nil]
    )
    func wholeBody(range: String?) async throws {
        let headers: KeyValuePairs = range.map { ["Content-Range": $0] } ?? [:]
        let origin = try ScriptedOrigin { _ in [.response(206, headers: headers, body: Fixture.image(length: 10))] }
        #expect(try await Downloader().fetch(url: origin.url).bytes == Fixture.image(length: 10))
    }

    // MARK: On disk

    private func makeConfiguration(directory: TemporaryDirectory) -> Downloader.Configuration {
        var configuration = Downloader.Configuration()
        configuration.partialDirectory = directory.path(of: "partial")
        return configuration
    }

    private func storedFiles(in directory: TemporaryDirectory) -> [String] {
        let names = (try? FileSystem().entryNames(in: directory.path(of: "partial"))) ?? []
        return names.filter { $0 != "key" }.map { directory.path(of: "partial/\($0)") }
    }

    /// Loads twice: the first download is interrupted, `change` may modify its file, and a new downloader loads again.
    private func loadTwice(
        in directory: TemporaryDirectory,
        change: (inout Downloader.Configuration) throws -> Void = { _ in }
    ) async throws -> (response: FetchResponse, ranges: [String?]) {
        let (image, half) = (image, half)
        let origin = try makeOrigin { request in
            guard request.headers["range"] != nil else { return [.response(200, headers: [:], body: image)] }
            let range = "bytes \(half)-\(image.count - 1)/\(image.count)"
            return [.response(206, headers: ["ETag": "\"v1\"", "Content-Range": range], body: Array(image[half...]))]
        }
        var configuration = makeConfiguration(directory: directory)
        let first = Downloader(configuration)
        let error = await failure { () async throws(EideticError) in try await first.fetch(url: origin.url) }
        #expect(error?.code == .lengthMismatch)
        #expect(storedFiles(in: directory).count == 1)
        try change(&configuration)
        let response = try await Downloader(configuration).fetch(url: origin.url)
        #expect(response.bytes == image)
        return (response, origin.requests.map { $0.headers["range"] })
    }

    @Test("L24 a partial body is stored on disk, and another process resumes it")
    func durable() async throws {
        let directory = try TemporaryDirectory(named: "partial")
        let result = try await loadTwice(in: directory)
        #expect(result.response.metrics.resumedBytes == half)
        #expect(result.ranges == [nil, "bytes=\(half)-"])
        #expect(storedFiles(in: directory).isEmpty)
    }

    @Test(
        "L24 a partial body is not resumed with other credentials, or if its server was not verified",
        arguments: [0, 1, 2]
    )
    func doesNotShareBeginning(_ kind: Int) async throws {
        let directory = try TemporaryDirectory(named: "partial")
        let (image, half, isFirst) = (image, half, Counter())
        let origin = try ScriptedOrigin { _ in
            let fields: KeyValuePairs = [
                "ETag": "\"v1\"", "Accept-Ranges": "bytes", "Content-Length": "\(image.count)",
            ]
            let head = ScriptedOrigin.Step.head(200, headers: fields)
            return isFirst.next() == 0 ? [head, .send(Array(image[..<half])), .close] : [head, .send(image)]
        }
        var request = try FetchRequest(url: origin.url)
        request.allowsInvalidCertificates = kind == 0
        var configuration = makeConfiguration(directory: directory)
        if kind == 1 { configuration.credentials = { _ in .bearer("one") } }
        if kind == 2 { configuration.headers["Authorization"] = "Bearer one" }
        let first = Downloader(configuration)
        let error = await failure { [request] () async throws(EideticError) in try await first.fetch(request) }
        #expect(error?.code == .lengthMismatch)
        request.allowsInvalidCertificates = false
        configuration.credentials = { _ in .bearer("other") }
        configuration.headers = [:]
        #expect(try await Downloader(configuration).fetch(request).bytes == image)
        #expect(origin.requests[1].headers["range"] == nil)
        #expect(storedFiles(in: directory).count == 1)
    }

    @Test(
        "L24 a length that the body of a damaged file cannot have is not used",
        arguments: ["-9223372036854775808", "-1", "0", "100000"]
    )
    func impossibleLength(_ length: String) async throws {
        let directory = try TemporaryDirectory(named: "partial")
        let (image, half) = (image, half)
        let origin = try makeOrigin { request in
            guard request.headers["range"] != nil else { return [.response(200, headers: [:], body: image)] }
            let range = "bytes \(half)-\(image.count - 1)/*"
            return [.response(206, headers: ["ETag": "\"v1\"", "Content-Range": range], body: Array(image[half...]))]
        }
        let configuration = makeConfiguration(directory: directory)
        _ = await failure { () async throws(EideticError) in try await Downloader(configuration).fetch(url: origin.url)
        }
        let file = try #require(storedFiles(in: directory).first)
        let bytes = try FileSystem().contents(of: file)
        let text = Array("Content-Length: \(image.count)".utf8)
        let start = try #require((0..<bytes.count).first { bytes[$0...].starts(with: text) })
        var content = bytes
        content.replaceSubrange(start..<start + text.count, with: Array("Content-Length: \(length)".utf8))
        // The checksum is in the third line, and is about all that follows it.
        let lines = content.split(separator: 10, maxSplits: 3, omittingEmptySubsequences: false)
        let checksum = lines[3].withUnsafeBytes { Checksum.value(of: $0) }
        let changed = Array(lines.prefix(2).joined(separator: [10])) + Array("\n\(checksum)\n".utf8) + lines[3]
        try changed.withUnsafeBytes { try FileSystem().replaceContents(of: file, with: $0) }
        #expect(try await Downloader(configuration).fetch(url: origin.url).bytes == image)
        #expect(origin.requests.map { $0.headers["range"] } == [nil, nil])
    }

    @Test("C18 the name of a partial body's file depends on a key of its directory, so that it reveals no password")
    func names() async throws {
        var names: Set<String> = []
        let (image, half) = (image, half)
        let origin = try ScriptedOrigin { _ in
            let fields: KeyValuePairs = [
                "ETag": "\"v1\"", "Accept-Ranges": "bytes", "Content-Length": "\(image.count)",
            ]
            let head = ScriptedOrigin.Step.head(200, headers: fields)
            return [head, .send(Array(image[..<half])), .close]
        }
        for _ in 0..<2 {
            let directory = try TemporaryDirectory(named: "partial")
            let configuration = makeConfiguration(directory: directory)
            let url = origin.url.replacing("http://", with: "http://user:password@")
            _ = await failure { () async throws(EideticError) in try await Downloader(configuration).fetch(url: url) }
            let file = try #require(storedFiles(in: directory).first)
            names.insert(String(file.split(separator: "/").last ?? ""))
            #expect(try FileSystem().status(of: directory.path(of: "partial/key")).permissions == 0o600)
        }
        #expect(names.count == 2)
        #expect(names.allSatisfy { $0.utf8.count == 64 + ".partial".utf8.count })
    }

    @Test("C18 partial bodies are not stored in a directory that others may write to")
    func untrustedDirectory() async throws {
        let directory = try TemporaryDirectory(named: "partial")
        try FileSystem().makeDirectory(directory.path(of: "partial"))
        chmod(directory.path(of: "partial"), 0o777)
        let origin = try makeOrigin { _ in [.close] }
        let configuration = makeConfiguration(directory: directory)
        _ = await failure { () async throws(EideticError) in try await Downloader(configuration).fetch(url: origin.url)
        }
        #expect(try FileSystem().entryNames(in: directory.path(of: "partial")) == [])
    }

    /// A condition under which the remainder is not loaded.
    enum Obstacle: CaseIterable { case busy, offline, left }

    @Test("L24 a partial body stays on disk while its remainder cannot be loaded", arguments: Obstacle.allCases)
    func stays(_ obstacle: Obstacle) async throws {
        let directory = try TemporaryDirectory(named: "partial")
        let (image, half, count) = (image, half, Counter())
        let origin = try ScriptedOrigin { _ in
            if count.next() > 0 { return [.response(503)] }
            return [
                .head(200, headers: ["ETag": "\"v1\"", "Accept-Ranges": "bytes", "Content-Length": "\(image.count)"]),
                .send(Array(image[..<half])),
                .close,
            ]
        }
        var configuration = makeConfiguration(directory: directory)
        let clock = ManualRetryClock(holdsFirstWait: obstacle == .offline || obstacle == .left)
        configuration.retryClock = clock
        let (plan, isKept) = (FaultPlan(), Gate())
        // Its temporary name is one of the directory's files before it is renamed.
        plan.fail(.linkat, with: EOPNOTSUPP, count: .max)
        plan.before(.rename, at: 2) { isKept.open() }
        configuration.fileSystem = FileSystem(observer: plan)
        let first = Downloader(configuration)
        _ = await failure { () async throws(EideticError) in try await first.fetch(url: origin.url) }
        #expect(storedFiles(in: directory).count == 1)
        let second = Downloader(configuration)
        let requests = origin.requests.count
        var request = try FetchRequest(url: origin.url)
        request.ignoresFailureList = obstacle == .offline || obstacle == .left
        let task = Task { [request] in
            await failure { () async throws(EideticError) in try await second.fetch(request) }
        }
        if request.ignoresFailureList { await clock.reached.wait() }
        if obstacle == .offline { second.isOffline = true; second.resetAfterNetworkChange() }
        if obstacle == .left { task.cancel() }
        let error = await task.value
        // A caller that cancels does not wait for the file.
        await isKept.wait()
        let expected: EideticError.Code =
            switch obstacle {
            case .busy: .httpStatus
            case .offline: .offline
            case .left: .cancelled
            }
        #expect(error?.code == expected)
        #expect(origin.requests.count == requests + 1)
        #expect(storedFiles(in: directory).count == 1)
    }

    @Test("L24 temporary files of killed processes are removed after a minute")
    func leftovers() async throws {
        let directory = try TemporaryDirectory(named: "partial")
        let (image, half) = (image, half)
        let origin = try ScriptedOrigin { _ in
            [
                .head(200, headers: ["ETag": "\"v1\"", "Accept-Ranges": "bytes", "Content-Length": "200000"]),
                .send(Array(image[..<half])),
                .close,
            ]
        }
        var configuration = makeConfiguration(directory: directory)
        configuration.time = ManualTime(now: SystemTime().now + .seconds(61))
        try FileSystem().makeDirectories(directory.path(of: "partial"))
        try directory.write([1, 2, 3], to: "partial/0123.partial.abc.tmp")
        let downloader = Downloader(configuration)
        _ = await failure { () async throws(EideticError) in try await downloader.fetch(url: origin.url) }
        #expect(storedFiles(in: directory).count == 1)
        #expect(storedFiles(in: directory).allSatisfy { $0.hasSuffix(".partial") })
    }

    @Test("L24 a damaged or truncated file is not used", arguments: [true, false])
    func damaged(isCut: Bool) async throws {
        let directory = try TemporaryDirectory(named: "partial")
        let result = try await loadTwice(in: directory) { _ in
            var bytes = try FileSystem().contents(of: storedFiles(in: directory)[0])
            if isCut { bytes.removeLast(5) } else { bytes[bytes.count - 1] ^= 1 }
            try directory.write(bytes, to: "partial/\(storedFiles(in: directory)[0].split(separator: "/").last ?? "")")
        }
        #expect(result.ranges == [nil, nil])
    }

    @Test("L24 an expired file is not used")
    func old() async throws {
        let directory = try TemporaryDirectory(named: "partial")
        let result = try await loadTwice(in: directory) { configuration in
            let time = ManualTime(now: SystemTime().now + .seconds(90_000))
            configuration.time = time
        }
        #expect(result.ranges == [nil, nil])
        #expect(storedFiles(in: directory).isEmpty)
    }

    @Test("L24 the size of all files is limited, and the oldest are removed")
    func bounded() async throws {
        let directory = try TemporaryDirectory(named: "partial")
        let (image, half) = (image, half)
        let origin = try ScriptedOrigin { _ in
            [
                .head(200, headers: ["ETag": "\"v1\"", "Accept-Ranges": "bytes", "Content-Length": "200000"]),
                .send(Array(image[..<half])),
                .close,
            ]
        }
        var configuration = makeConfiguration(directory: directory)
        configuration.partialSizeLimit = 250_000
        let downloader = Downloader(configuration)
        for number in 0..<5 {
            _ = await failure { () async throws(EideticError) in
                try await downloader.fetch(url: "\(origin.url)/\(number)")
            }
        }
        #expect(storedFiles(in: directory).count == 2)
    }

    @Test("L24 a cancelled download keeps its part on disk, and the next one finds it at once")
    func cancelled() async throws {
        let directory = try TemporaryDirectory(named: "partial")
        let (image, half, reached) = (image, half, Gate())
        let origin = try makeOrigin(isHeld: true) { request in
            let range = "bytes \(half)-\(image.count - 1)/\(image.count)"
            return [.response(206, headers: ["ETag": "\"v1\"", "Content-Range": range], body: Array(image[half...]))]
        }
        let downloader = Downloader(makeConfiguration(directory: directory))
        let request = try FetchRequest(url: origin.url)
        let task = Task {
            try await downloader.fetch(request) { progress in if progress.received == half { reached.open() } }
        }
        await reached.wait()
        task.cancel()
        await #expect(throws: EideticError.self) { try await task.value }
        let response = try await downloader.fetch(request)
        #expect(response.bytes == image && response.status == 200 && response.metrics.resumedBytes == half)
        #expect(storedFiles(in: directory).isEmpty)
    }
}
