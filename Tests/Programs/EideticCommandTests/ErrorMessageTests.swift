import Eidetic
import EideticCodecs
import EideticCore
import EideticFetch
import EideticStore
import EideticTestSupport
import EideticTransfer
import Glibc
import Testing

/// Each code of `docs/errors.md`, provoked as a program meets it.
///
/// Serialized, because the program of the sandbox is that of the whole process.
@Suite("Messages of errors", .serialized, .needsNginx, .timeLimit(.minutes(2)))
struct ErrorMessageTests {
    /// A failure.
    struct Case: Sendable, CustomTestStringConvertible {
        let code: EideticError.Code
        /// A part of the message: of the reason, or of the remedy.
        let reason: String
        /// The part of the URL or path that the message contains; the rest depends on the run.
        let subject: String
        let provoke: @Sendable (ErrorMessageTests) async throws -> Void

        init(
            _ code: EideticError.Code,
            names subject: String,
            says reason: String,
            provoke: @escaping @Sendable (ErrorMessageTests) async throws -> Void
        ) {
            (self.code, self.subject, self.reason, self.provoke) = (code, subject, reason, provoke)
        }

        var testDescription: String { "\(code)" }
    }

    private let directory: TemporaryDirectory
    private let png: [UInt8]

    init() throws {
        directory = try TemporaryDirectory(named: "messages")
        png = try TestImages.encoded(as: .png)
    }

    @Test("L07 the message of each code names the URL or the file, and the reason", arguments: cases)
    func message(of failure: Case) async throws {
        let error = await #expect(throws: EideticError.self) { try await failure.provoke(self) }
        #expect(error?.code == failure.code, "\(error as Any)")
        let message = try #require(error?.message)
        #expect(message.contains(failure.subject) && message.contains(failure.reason), "\(message)")
        #expect(!message.contains("\n") && !message.contains("\(failure.code): "), "\(message)")
    }

    @Test("L07 a message is shown for each code") func complete() {
        #expect(Set(Self.cases.map(\.code)) == Set(EideticError.Code.all))
    }

    // MARK: The ways to fail

    /// Loads with a pipeline without a cache.
    private func load(
        _ request: ImageRequest,
        configure: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) async throws(EideticError) {
        var configuration = ImagePipeline.Configuration()
        configuration.decodePolicy = .inProcess
        configuration.downloads.retryPolicy = .none
        configure(&configuration)
        _ = try await ImagePipeline(configuration).image(for: request)
    }

    /// Loads `/a.png` of a server that answers in this way.
    private func load(
        answer: [ScriptedOrigin.Step],
        timeout: Duration = .seconds(15),
        rendering: ImageRequest.Rendering = .init(),
        configure: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) async throws {
        let server = try ScriptedOrigin { _ in answer }
        var source = FetchRequest(server.url + "/a.png")
        source.timeout = timeout
        try await load(ImageRequest(.remote(source), rendering: rendering), configure: configure)
    }

    /// Loads in a decoding process that misbehaves.
    private func load(attack: String) async throws {
        let probe = BuiltProgram.path(of: "EideticDecodeProbe")
        let program = try directory.write(Array("#!/bin/sh\nexec \(probe) \(attack)\n".utf8), to: "eidetic-decode")
        chmod(program, 0o755)
        let usual = DecodeSandbox.programPath
        DecodeSandbox.programPath = program
        defer { DecodeSandbox.programPath = usual }
        try await load(answer: [.response(body: png)]) { $0.decodePolicy = .sandboxed }
    }

    /// A cache on disk, whose system calls the test can make fail.
    private func cache(
        change: (inout DiskCache.Configuration) -> Void = { _ in }
    ) throws -> (cache: ImageCache, plan: FaultPlan) {
        var configuration = DiskCache.Configuration(directory: directory.path(of: "cache"))
        change(&configuration)
        let plan = FaultPlan(), disk = try DiskCache(configuration, fileSystem: FileSystem(observer: plan))
        return (ImageCache(memory: ImageMemoryCache(), disk: disk), plan)
    }

    private static let cases: [Case] = requests + responses + images + files

    private static let requests: [Case] = [
        Case(.invalidURL, names: "no url", says: "has no scheme; use https://") { try await $0.load("no url") },
        Case(.invalidArgument, names: "/a.png", says: "radius") { tests in
            let rendering = ImageRequest.Rendering(transform: .gaussianBlur(radius: -1))
            try await tests.load(answer: [.response(body: tests.png)], rendering: rendering)
        },
        Case(.refused, names: "http://127.0.0.1:", says: "refusesPrivateNetworks") { tests in
            try await tests.load(answer: []) { $0.downloads.refusesPrivateNetworks = true }
        },
        Case(.cancelled, names: "", says: "cancelled") { tests in
            let gate = Gate(), server = try ScriptedOrigin { _ in [.wait(gate)] }, url = server.url
            let task = ImagePipeline(.init()).task(for: ImageRequest(url + "/a.png"))
            await server.waitForRequests(count: 1)
            task.cancel()
            _ = try await task.image
        },
        Case(.cacheMiss, names: "https://example.org/a.png", says: "the network may not be used") { tests in
            try await tests.load(ImageRequest("https://example.org/a.png", cachePolicy: .cachedOnly))
        },
        Case(.offline, names: "https://example.org/a.png", says: "the downloader is offline") { tests in
            try await tests.load("https://example.org/a.png") { $0.downloader.isOffline = true }
        },
        Case(.hostNotFound, names: "http://nobody.invalid/a.png", says: "resolve") { tests in
            try await tests.load("http://nobody.invalid/a.png")
        },
        Case(.connectionRefused, names: "http://127.0.0.1:", says: "Connection refused") { tests in
            try await tests.load(ImageRequest("http://127.0.0.1:\(try LoopbackPort.unused())/a.png"))
        },
        Case(.connectionLost, names: "/a.png", says: "Empty reply") { try await $0.load(answer: [.close]) },
        Case(.timedOut, names: "/a.png", says: "0.2 s") { tests in
            try await tests.load(answer: [.wait(Gate())], timeout: .milliseconds(200))
        },
        Case(.tlsFailure, names: "localhost:", says: "certificate") { tests in
            let server = try await Nginx(.init(usesTLS: true))
            try await tests.load(ImageRequest(try #require(server.secureURL) + "/a.png"))
        },
    ]

    private static let responses: [Case] = [
        Case(.httpStatus, names: "/a.png", says: "status 404") { try await $0.load(answer: [.response(404)]) },
        Case(.badRedirect, names: "/a.png", says: "20 redirects") { tests in
            try await tests.load(answer: [.response(302, headers: ["Location": "/a.png"])])
        },
        Case(.lengthMismatch, names: "/a.png", says: "9 bytes were announced") { tests in
            try await tests.load(answer: [.head(200, headers: ["Content-Length": "9"]), .send([1]), .close])
        },
        Case(.badResponse, names: "/a.png", says: "HTTP") { tests in
            try await tests.load(answer: [.send(Array("hello\r\n\r\n".utf8)), .close])
        },
    ]

    private static let images: [Case] = [
        Case(.notAnImage, names: "/a.png", says: "not an image") { tests in
            try await tests.load(answer: [.response(headers: ["Content-Type": "text/html"], body: Array("<p>".utf8))])
        },
        Case(.unsupportedFormat, names: "/a.png", says: "BMP") { tests in
            // A bitmap of one pixel that contains a JPEG.
            let size: [UInt8] = [1, 0, 0, 0]
            let header = [40, 0, 0, 0] + size + size + [1, 0, 24, 0, 4, 0, 0, 0] + [UInt8](repeating: 0, count: 20)
            let file = Array("BM".utf8) + [58, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0] + header + size
            try await tests.load(answer: [.response(body: file)])
        },
        Case(.truncated, names: "/a.png", says: "truncated") { tests in
            try await tests.load(answer: [.response(body: Array(tests.png.dropLast(40)))])
        },
        Case(.corrupt, names: "/a.png", says: "PNG") { tests in
            var bytes = tests.png
            bytes[60] ^= 1
            try await tests.load(answer: [.response(body: bytes)])
        },
        Case(.limitExceeded, names: "/a.png", says: "pixels") { tests in
            try await tests.load(answer: [.response(body: tests.png)]) { $0.decodeLimits.pixels = 10 }
        },
        Case(.encodingFailed, names: "1 byte", says: "use a smaller size") { tests in
            var options = EncodeOptions()
            options.maximumByteCount = 1
            _ = try ImageEncoder.encode(TestImages.gradient(width: 8, height: 8), as: .jpeg, options: options)
        },
        Case(.decoderFailed, names: "/a.png", says: "decoding process") { try await $0.load(attack: "crash") },
        Case(.sandboxUnavailable, names: "/a.png", says: "eidetic-decode") { try await $0.load(attack: "older") },
        Case(.outOfMemory, names: "/a.png", says: "memory") { try await $0.load(attack: "negative") },
    ]

    private static let files: [Case] = [
        Case(.notFound, names: "/nobody/a.png", says: "No such file") { try await $0.load("file:///nobody/a.png") },
        // Memory of the process that is not mapped.
        Case(.fileFailure, names: "/proc/self/mem", says: "Input/output error") { tests in
            try await tests.load("file:///proc/self/mem")
        },
        Case(.permissionDenied, names: "/cache", says: "read-only") { tests in
            let (cache, _) = try tests.cache()
            try await cache.insert(bytes: tests.png, for: "a")
            try await tests.cache { $0.isReadOnly = true }.cache.insert(bytes: tests.png, for: "b")
        },
        Case(.diskFull, names: "/cache", says: "No space left on device") { tests in
            let (cache, plan) = try tests.cache()
            plan.fail(.write, with: ENOSPC, count: 2)
            try await cache.insert(bytes: tests.png, for: "a")
        },
        Case(.cacheUnavailable, names: "/file", says: "cannot be used") { tests in
            _ = try DiskCache(DiskCache.Configuration(directory: tests.directory.write([1], to: "file")))
        },
        Case(.checksumMismatch, names: "/a.png", says: "shared entry") { tests in
            let line = Guarded<String?>(nil)
            Log.configure([.store: .warning], sink: .custom { _, _, text in line.withLock { $0 = $0 ?? text } })
            defer { Log.configure([:]) }
            try await tests.load(answer: [.response(headers: ["Cache-Control": "max-age=9"], body: tests.png)]) {
                $0.sharedTier = DamagedTier()
                $0.freshness = .http
            }
            // The image is loaded all the same: the log alone has the failure.
            throw EideticError(.checksumMismatch, message: line.withLock { $0 } ?? "nothing was logged")
        },
        Case(.inUse, names: "session books", says: "use another identifier") { tests in
            let place = tests.directory.path(of: "transfers"), files = FileSystem()
            try files.makeDirectories("\(place)/sessions/test")
            let lock = try files.open("\(place)/sessions/test/books", flags: O_RDWR | O_CREAT, mode: 0o600)
            try files.lockByte(at: 0, of: lock)
            var configuration = BackgroundURLSession.Configuration(identifier: "books")
            configuration.application = "test"
            configuration.service = ServiceLocation(socketPath: "\(place)/socket", directory: "\(place)/service")
            configuration.service.program = .none
            _ = try await BackgroundURLSession(configuration: configuration).allTasks
        },
    ]
}

/// A shared tier whose values are damaged.
private struct DamagedTier: SharedTier {
    let valueLimit = ByteCount.mebibytes(1)
    let leaseDuration = Duration.seconds(30)

    func lookUp(_ key: String, leasing lease: SharedLease?) async throws(EideticError) -> SharedLookup {
        SharedLookup(value: [1, 2, 3], lease: lease == nil ? nil : .granted)
    }

    func insert(_ value: [UInt8], for key: String, timeToLive: Duration) async throws(EideticError) {}

    func remove(_ key: String, ifEqualTo value: [UInt8]?) async throws(EideticError) {}

    func update(_ lease: SharedLease, of key: String, to change: SharedLease.Change) async throws(EideticError) {}
}
