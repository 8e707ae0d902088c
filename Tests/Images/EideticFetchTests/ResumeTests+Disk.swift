import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Glibc
import Testing

// Partial bodies on disk.
extension ResumeTests {
    private func makeConfiguration(directory: TemporaryDirectory) -> Downloader.Configuration {
        var configuration = Downloader.Configuration()
        configuration.partialDirectory = directory.path(of: "partial")
        return configuration
    }

    /// The answer of an origin that disconnects after half of the image.
    private var beginning: [ScriptedOrigin.Step] {
        let fields: KeyValuePairs = ["ETag": "\"v1\"", "Accept-Ranges": "bytes", "Content-Length": "\(image.count)"]
        return [.head(200, headers: fields), .send(Array(image[..<half])), .close]
    }

    /// Returns the error of a download with a downloader of its own.
    private func fail(_ configuration: Downloader.Configuration, _ url: String) async -> EideticError? {
        await failure { () async throws(EideticError) in try await Downloader(configuration).fetch(url: url) }
    }

    private func storedFiles(in directory: TemporaryDirectory) -> [String] {
        let names = (try? FileSystem().entryNames(in: directory.path(of: "partial"))) ?? []
        return names.filter { $0 != "key" }.map { directory.path(of: "partial/\($0)") }
    }

    /// Loads twice: the first download is interrupted, `change` may modify its file, and a new downloader loads again.
    private func loadTwice(
        in directory: TemporaryDirectory,
        validator: KeyValuePairs<String, String> = ["ETag": "\"v1\"", "Accept-Ranges": "bytes"],
        change: (inout Downloader.Configuration) throws -> Void = { _ in }
    ) async throws -> (response: FetchResponse, ranges: [String?]) {
        let (image, half) = (image, half)
        let origin = try makeOrigin(validator: validator) { request in
            guard request.headers["range"] != nil else { return [.response(200, headers: [:], body: image)] }
            return Self.remainder(of: image, from: half)
        }
        var configuration = makeConfiguration(directory: directory)
        #expect(await fail(configuration, origin.url)?.code == .lengthMismatch)
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

    @Test("L24 a header field of a stored partial body keeps a combining mark at its beginning")
    func storedCombiningMark() async throws {
        let directory = try TemporaryDirectory(named: "partial")
        let fields: KeyValuePairs = ["ETag": "\"v1\"", "Accept-Ranges": "bytes", "X-Mark": "\u{301}a"]
        let response = try await loadTwice(in: directory, validator: fields).response
        #expect(response.metrics.resumedBytes == half)
        #expect(response.headers["X-Mark"].map { Array($0.utf8) } == [0xcc, 0x81, 0x61])
    }

    @Test(
        "L24 a partial body is not resumed with other credentials, or if its server was not verified",
        arguments: [0, 1, 2]
    )
    func doesNotShareBeginning(_ kind: Int) async throws {
        let directory = try TemporaryDirectory(named: "partial")
        let (image, beginning, isFirst) = (image, beginning, Counter())
        let origin = try ScriptedOrigin { _ in
            isFirst.next() == 0 ? beginning : [.response(200, headers: ["ETag": "\"v1\""], body: image)]
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
        _ = await fail(configuration, origin.url)
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
        try FileSystem().replaceContents(of: file, with: changed)
        #expect(try await Downloader(configuration).fetch(url: origin.url).bytes == image)
        #expect(origin.requests.map { $0.headers["range"] } == [nil, nil])
    }

    @Test("C18 the name of a partial body's file depends on a key of its directory, so that it reveals no password")
    func names() async throws {
        var names: Set<String> = []
        let beginning = beginning, origin = try ScriptedOrigin { _ in beginning }
        for _ in 0..<2 {
            let directory = try TemporaryDirectory(named: "partial")
            let configuration = makeConfiguration(directory: directory)
            let url = origin.url.replacing("http://", with: "http://user:password@")
            _ = await fail(configuration, url)
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
        _ = await fail(configuration, origin.url)
        #expect(try FileSystem().entryNames(in: directory.path(of: "partial")) == [])
    }

    /// A condition under which the remainder is not loaded.
    enum Obstacle: CaseIterable { case busy, offline, left }

    @Test("L24 a partial body stays on disk while its remainder cannot be loaded", arguments: Obstacle.allCases)
    func stays(_ obstacle: Obstacle) async throws {
        let directory = try TemporaryDirectory(named: "partial")
        let (beginning, count) = (beginning, Counter())
        let origin = try ScriptedOrigin { _ in count.next() > 0 ? [.response(503)] : beginning }
        var configuration = makeConfiguration(directory: directory)
        let clock = ManualRetryClock(holdsFirstWait: obstacle == .offline || obstacle == .left)
        configuration.retryClock = clock
        let (plan, isKept) = (FaultPlan(), Gate())
        // Its temporary name is one of the directory's files before it is renamed.
        plan.fail(.linkat, with: EOPNOTSUPP, count: .max)
        plan.before(.rename, at: 2) { isKept.open() }
        configuration.fileSystem = FileSystem(observer: plan)
        _ = await fail(configuration, origin.url)
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
        let beginning = beginning, origin = try ScriptedOrigin { _ in beginning }
        var configuration = makeConfiguration(directory: directory)
        configuration.time = ManualTime(now: SystemTime().now + .seconds(61))
        try FileSystem().makeDirectories(directory.path(of: "partial"))
        try directory.write([1, 2, 3], to: "partial/0123.partial.abc.tmp")
        _ = await fail(configuration, origin.url)
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
        let beginning = beginning, origin = try ScriptedOrigin { _ in beginning }
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
        let origin = try makeOrigin(isHeld: true) { _ in Self.remainder(of: image, from: half) }
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
