import Eidetic
import EideticCore
import EideticFetch
import EideticHTTP
import EideticStore
import EideticTestSupport
import Glibc
import Testing

@Suite("Loads that continue what cancelled and failed ones have received", .timeLimit(.minutes(2)))
struct ResumptionTests {
    /// The end of the first load.
    enum End: CaseIterable { case cancelled, failed }

    private let png: [UInt8]
    private let half: Int

    init() throws {
        png = try TestImage.png(width: 400, height: 300)
        half = png.count / 2
    }

    /// An origin whose first response stops half way, and which answers ranges with what `rest` returns.
    private func makeOrigin(
        fields: KeyValuePairs<String, String> = ["ETag": "\"v1\"", "Accept-Ranges": "bytes"],
        end: End = .cancelled,
        hasArrived: Gate = Gate(),
        rest: (@Sendable (ScriptedOrigin.Request, _ start: Int) -> [ScriptedOrigin.Step])? = nil
    ) throws -> ScriptedOrigin {
        let (png, half, count) = (png, half, Counter())
        let lines = fields.map { "\($0.key): \($0.value)\r\n" }.joined()
        let described = "Content-Type: image/png\r\nContent-Length: \(png.count)\r\n\r\n"
        let head = Array("HTTP/1.1 200 OK\r\n\(lines)\(described)".utf8)
        return try ScriptedOrigin { request in
            if count.next() == 0 {
                return [.send(head + png[..<half]), end == .failed ? .close : .wait(Gate())]
            }
            guard let start = request.headers["range"].flatMap({ Int($0.dropFirst(6).dropLast()) }) else {
                return [.send(head + png)]
            }
            if let rest { return rest(request, start) }
            let range = "bytes \(start)-\(png.count - 1)/\(png.count)"
            return [.response(206, headers: ["ETag": "\"v1\"", "Content-Range": range], body: Array(png[start...]))]
        }
    }

    private func makePipeline(in directory: TemporaryDirectory?) throws -> ImagePipeline {
        var configuration = ImagePipeline.Configuration()
        if let directory {
            configuration.diskCache = try DiskCache(DiskCache.Configuration(directory: directory.path(of: "cache")))
        }
        return ImagePipeline(configuration)
    }

    /// Begins a load, and ends it when half of the bytes have arrived.
    private func interrupt(_ request: ImageRequest, in pipeline: ImagePipeline, end: End = .cancelled) async throws {
        let task = pipeline.task(for: request)
        var error: EideticError?
        for await event in task.events {
            switch event {
            case .progress(let progress) where progress.received == half && end == .cancelled: task.cancel()
            case .failed(let failure): error = failure
            default: break
            }
        }
        #expect(error?.code == (end == .cancelled ? .cancelled : .lengthMismatch))
        try await waitForEnd(in: pipeline)
    }

    /// Waits until no download runs; before, the next load may join the cancelled one, which goes on then.
    private func waitForEnd(in pipeline: ImagePipeline) async throws {
        let downloader = pipeline.configuration.downloader
        try await eventually("the download has ended") { downloader.counts == (waiting: 0, running: 0) }
    }

    @Test(
        "L24 C10 by default a load continues what the one before has received, also another process, and piece by piece",
        arguments: [ImageOptions(), .progressive],
        End.allCases
    )
    func resumes(options: ImageOptions, end: End) async throws {
        for isNextRun in [false, true] {
            let origin = try makeOrigin(end: end), directory = try TemporaryDirectory(named: "parts")
            var pipeline = try makePipeline(in: directory)
            var request = ImageRequest(origin.url + "/a.png", options: options, cachePolicy: .afterStorage)
            request.cachePolicy.includesBytes = true
            try await interrupt(request, in: pipeline, end: end)
            if isNextRun {
                await pipeline.finishWrites()
                pipeline = try makePipeline(in: directory)
            }
            let response = try await pipeline.response(for: request)
            #expect(response.encodedBytes == png && response.image.size == PixelSize(width: 400, height: 300))
            let second = try #require(origin.requests.last)
            #expect(origin.requests.count == 2 && second.headers["range"] == "bytes=\(half)-")
            #expect(second.headers["if-range"] == "\"v1\"")
            // The whole image is stored, as a response with status 200, and the part is gone.
            await pipeline.finishWrites()
            let disk = try #require(pipeline.configuration.diskCache)
            let entries = try await disk.entries()
            #expect(entries.filter { $0.metadata.kind == .original }.count == 1)
            #expect(entries.first?.metadata.headers.contains { $0.name == "Content-Type" } == true)
        }
    }

    @Test(
        "L24 without a disk cache parts stay in memory, and each is used once",
        arguments: [ImageOptions(), .progressive]
    )
    func inMemory(options: ImageOptions) async throws {
        let origin = try makeOrigin(), pipeline = try makePipeline(in: nil)
        let request = ImageRequest(origin.url + "/a.png", options: options)
        try await interrupt(request, in: pipeline)
        let downloader = pipeline.configuration.downloader
        #expect(try await pipeline.image(for: request).size.width == 400)
        #expect(origin.requests.last?.headers["range"] == "bytes=\(half)-")
        #expect(downloader.parts.memory.usage == (0, 0))
        _ = try await pipeline.image(for: ImageRequest(origin.url + "/a.png", cachePolicy: .reload))
        #expect(origin.requests.count == 3 && origin.requests.last?.headers["range"] == nil)
    }

    @Test(
        "L24 C12 the part of a load that runs while everything is removed is not kept",
        arguments: [ImageOptions(), .progressive]
    )
    func removedMeanwhile(options: ImageOptions) async throws {
        let origin = try makeOrigin(), directory = try TemporaryDirectory(named: "parts")
        let pipeline = try makePipeline(in: directory)
        let task = pipeline.task(for: ImageRequest(origin.url + "/a.png", options: options))
        for await event in task.events {
            guard case .progress(let progress) = event, progress.received == half else { continue }
            try await pipeline.cache.removeAll()
            task.cancel()
        }
        try await waitForEnd(in: pipeline)
        await pipeline.finishWrites()
        #expect(pipeline.configuration.downloader.parts.memory.usage == (0, 0))
        #expect(try await pipeline.configuration.diskCache?.entries().isEmpty == true)
        _ = try await pipeline.image(for: ImageRequest(origin.url + "/a.png", options: options))
        #expect(origin.requests.last?.headers["range"] == nil)
    }

    @Test("L24 the part behind a redirect is not kept, which may forbid to store what it leads to")
    func redirected() async throws {
        let head: KeyValuePairs = ["ETag": "\"v1\"", "Accept-Ranges": "bytes", "Content-Length": "\(png.count)"]
        let origin = try ScriptedOrigin { [png, half] request in
            if request.path == "/a.png" {
                return [.response(302, headers: ["Location": "/b.png?s=1", "Cache-Control": "no-store"])]
            }
            return [.head(200, headers: head), .send(Array(png[..<half])), .wait(Gate())]
        }
        let directory = try TemporaryDirectory(named: "parts"), pipeline = try makePipeline(in: directory)
        try await interrupt(ImageRequest(origin.url + "/a.png"), in: pipeline)
        await pipeline.finishWrites()
        #expect(pipeline.configuration.downloader.parts.memory.usage == (0, 0))
        #expect(try await pipeline.configuration.diskCache?.entries().isEmpty == true)
    }

    @Test("L24 a remainder without the tag is not joined to a part: the image is loaded from its first byte")
    func untagged() async throws {
        let origin = try makeOrigin { [png] _, start in
            let range = "bytes \(start)-\(png.count - 1)/\(png.count)"
            return [.response(206, headers: ["Content-Range": range], body: Array(png[start...]))]
        }
        let pipeline = try makePipeline(in: nil)
        var request = ImageRequest(origin.url + "/a.png", cachePolicy: .afterStorage)
        request.cachePolicy.includesBytes = true
        try await interrupt(request, in: pipeline)
        #expect(try await pipeline.response(for: request).encodedBytes == png)
        #expect(origin.requests.map { $0.headers["range"] != nil } == [false, true, false])
    }

    @Test(
        "L24 a file that has changed meanwhile is loaded as a whole, whatever the server makes of the range",
        arguments: [ImageOptions(), .progressive],
        [200, 206, 416]
    )
    func changed(options: ImageOptions, status: Int) async throws {
        let new = try TestImage.png(width: 300, height: 400)
        let count = Counter()
        let server = try ScriptedOrigin { [png, half] request in
            if count.next() == 0 {
                let fields: KeyValuePairs = [
                    "ETag": "\"v1\"", "Accept-Ranges": "bytes", "Content-Length": "\(png.count)",
                ]
                return [.head(200, headers: fields), .send(Array(png[..<half])), .wait(Gate())]
            }
            guard request.headers["range"] != nil, status != 200 else {
                return [.response(200, headers: ["ETag": "\"v2\""], body: new)]
            }
            if status == 416 { return [.response(416)] }
            let range = "bytes \(half)-\(new.count - 1)/\(new.count)"
            return [.response(206, headers: ["ETag": "\"v2\"", "Content-Range": range], body: Array(new[half...]))]
        }
        let directory = try TemporaryDirectory(named: "parts"), pipeline = try makePipeline(in: directory)
        var request = ImageRequest(server.url + "/a.png", options: options)
        request.cachePolicy.includesBytes = true
        try await interrupt(request, in: pipeline)
        let response = try await pipeline.response(for: request)
        #expect(response.encodedBytes == new && response.image.size == PixelSize(width: 300, height: 400))
        #expect(server.requests[1].headers["if-range"] == "\"v1\"")
    }

    /// A reason for which nothing is kept.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var fields: KeyValuePairs<String, String> = ["ETag": "\"v1\"", "Accept-Ranges": "bytes"]
        var change: @Sendable (inout ImageRequest) -> Void = { _ in }
    }

    private static let refusals = [
        Refusal(
            testDescription: "no-store",
            fields: [
                "ETag": "\"v1\"", "Accept-Ranges": "bytes", "Cache-Control": "no-store",
            ]
        ),
        Refusal(testDescription: "no-store in the request") { $0.headers["Cache-Control"] = "no-store" },
        Refusal(testDescription: "a policy that stores nothing") { $0.cachePolicy = .noStore },
        Refusal(
            testDescription: "private, with credentials",
            fields: [
                "ETag": "\"v1\"", "Accept-Ranges": "bytes", "Cache-Control": "private, max-age=60",
            ]
        ) { $0.headers["Authorization"] = "Bearer a" },
        Refusal(testDescription: "cookies") { $0.options.insert(.handleCookies) },
        Refusal(testDescription: "no ranges", fields: ["ETag": "\"v1\""]),
        Refusal(testDescription: "ranges refused", fields: ["ETag": "\"v1\"", "Accept-Ranges": "none"]),
        Refusal(testDescription: "a weak validator", fields: ["ETag": "W/\"v1\"", "Accept-Ranges": "bytes"]),
        Refusal(testDescription: "no validator", fields: ["Accept-Ranges": "bytes"]),
    ]

    @Test(
        "L24 nothing is kept of what must not be stored, or cannot be continued",
        arguments: refusals,
        [ImageOptions(), .progressive]
    )
    func refused(_ refusal: Refusal, options: ImageOptions) async throws {
        let origin = try makeOrigin(fields: refusal.fields), directory = try TemporaryDirectory(named: "parts")
        let pipeline = try makePipeline(in: directory)
        var request = ImageRequest(origin.url + "/a.png", options: options)
        refusal.change(&request)
        try await interrupt(request, in: pipeline)
        await pipeline.finishWrites()
        #expect(pipeline.configuration.downloader.parts.memory.usage == (0, 0))
        #expect(try await pipeline.configuration.diskCache?.usage.entryCount == 0)
        #expect(try await pipeline.image(for: request).size.width == 400)
        #expect(origin.requests.last?.headers["range"] == nil)
    }

    @Test(
        "L24 the part of one user or variant is not another's, in memory and on disk",
        arguments: [false, true],
        [0, 1, 2]
    )
    func otherRequest(isOnDisk: Bool, kind: Int) async throws {
        let origin = try makeOrigin(fields: ["ETag": "\"v1\"", "Accept-Ranges": "bytes", "Vary": "Accept-Language"])
        let directory = try TemporaryDirectory(named: "parts")
        let pipeline = try makePipeline(in: isOnDisk ? directory : nil)
        var request = ImageRequest(origin.url + "/a.png")
        request.headers["Authorization"] = "Bearer one"
        try await interrupt(request, in: pipeline)
        await pipeline.finishWrites()
        switch kind {
        case 0: request.headers["Authorization"] = "Bearer other"
        case 1: request.headers["Authorization"] = nil
        // A field of all requests, which is no part of the identity of an image.
        default: pipeline.configuration.downloader.headers["Accept-Language"] = "de"
        }
        #expect(try await pipeline.image(for: request).size.width == 400)
        #expect(origin.requests.last?.headers["range"] == nil)
    }

    /// The removal of a part.
    enum Removal: CaseIterable { case removed, cleared, expired, damaged }

    @Test(
        "L24 C10 parts are in the directory of the cache: removed with its contents, expired, verified",
        arguments: Removal.allCases
    )
    func removal(_ removal: Removal) async throws {
        let origin = try makeOrigin(), directory = try TemporaryDirectory(named: "parts")
        let pipeline = try makePipeline(in: directory), request = ImageRequest(origin.url + "/a.png")
        try await interrupt(request, in: pipeline)
        await pipeline.finishWrites()
        let disk = try #require(pipeline.configuration.diskCache), part = try #require(try await disk.entries().first)
        #expect(try await disk.usage.logicalSize.bytes > half)
        #expect(pipeline.configuration.downloader.parts.memory.usage == (0, 0))
        var next = pipeline
        switch removal {
        case .removed: try await pipeline.cache.remove(.init(request))
        case .cleared: try await pipeline.cache.removeAll()
        case .expired:
            let configuration = DiskCache.Configuration(directory: directory.path(of: "cache"))
            let time = ManualTime(now: SystemTime().now + .seconds(86_401))
            let disk = try DiskCache(configuration, fileSystem: FileSystem(), time: time)
            next = ImagePipeline(.init(diskCache: disk))
        case .damaged:
            var bytes = try FileSystem().contents(of: part.path)
            bytes[10_000] ^= 1
            try FileSystem().replaceContents(of: part.path, with: bytes)
        }
        #expect(try await next.image(for: request).size.width == 400)
        #expect(origin.requests.last?.headers["range"] == nil)
    }

    @Test(
        "L24 an answer of another URL is not appended, although it has the same tag",
        arguments: [ImageOptions(), .progressive]
    )
    func otherTarget(options: ImageOptions) async throws {
        let other = try TestImage.png(width: 300, height: 400), count = Counter()
        let origin = try ScriptedOrigin { [png, half] request in
            if request.path == "/a.png" {
                return [.response(302, headers: ["Location": count.next() == 0 ? "/one" : "/two"])]
            }
            if request.path == "/one" {
                let fields: KeyValuePairs = [
                    "ETag": "\"v1\"", "Accept-Ranges": "bytes", "Content-Length": "\(png.count)",
                ]
                return [.head(200, headers: fields), .send(Array(png[..<half])), .wait(Gate())]
            }
            guard request.headers["range"] != nil else { return [.response(200, body: other)] }
            let range = "bytes \(half)-\(other.count - 1)/\(other.count)"
            return [.response(206, headers: ["ETag": "\"v1\"", "Content-Range": range], body: Array(other[half...]))]
        }
        let pipeline = try makePipeline(in: nil), request = ImageRequest(origin.url + "/a.png", options: options)
        try await interrupt(request, in: pipeline)
        #expect(try await pipeline.image(for: request).size == PixelSize(width: 300, height: 400))
    }

    @Test(
        "L24 a load from nginx that was cancelled is continued byte for byte, over HTTP/1.1 and HTTP/2, by a prefetcher",
        .needsNginx,
        arguments: [false, true],
        [ImageOptions(), .progressive]
    )
    func nginx(isSecure: Bool, options: ImageOptions) async throws {
        // Only what has a range comes at once, so that the load is cancelled in time.
        let settings = Nginx.Configuration(
            server: "limit_rate $rate; limit_rate_after 200k;",
            http: "map $http_range $rate { '' 20k; default 0; }",
            usesTLS: true
        )
        let server = try await Nginx(settings)
        try server.addFile(png, at: "a.png")
        let directory = try TemporaryDirectory(named: "parts")
        var configuration = ImagePipeline.Configuration(
            diskCache: try DiskCache(DiskCache.Configuration(directory: directory.path(of: "cache")))
        )
        configuration.downloads.certificateAuthorityFile = server.authorityFile
        let pipeline = ImagePipeline(configuration)
        let base = isSecure ? try #require(server.secureURL) : server.url
        var request = ImageRequest("\(base)/a.png", options: options, cachePolicy: .afterStorage)
        let task = pipeline.task(for: request)
        var received = 0
        for await event in task.events {
            guard case .progress(let progress) = event, progress.received > 100_000, received == 0 else { continue }
            received = progress.received
            task.cancel()
        }
        try await waitForEnd(in: pipeline)
        let prefetcher = ImagePrefetcher(pipeline: pipeline, destination: .disk)
        #expect(await prefetcher.prefetch([request]).finish() == .init(finished: 1, total: 1))
        request.cachePolicy.includesBytes = true
        #expect(try await pipeline.response(for: request).encodedBytes == png)
        // The log has requests in the order of their ends, of which nginx notices that of a cancelled one late.
        let requests = try await server.requests().filter { $0.path == "/a.png" }
        let last = try #require(requests.first { $0.status == 206 })
        #expect(last.bodyBytes <= png.count - received)
        #expect(last.headers["if-range"] != nil && last.headers["range"] == "bytes=\(png.count - last.bodyBytes)-")
    }
}
