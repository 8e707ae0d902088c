import Eidetic
import EideticTestSupport
import Testing

@Suite("HTTP freshness", .timeLimit(.minutes(2)))
struct FreshnessTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(named: "freshness") }

    /// A pipeline over the same directory, with HTTP freshness.
    private func makePipeline() throws -> ImagePipeline {
        let disk = try DiskCache(DiskCache.Configuration(directory: directory.path(of: "cache")))
        var configuration = ImagePipeline.Configuration(diskCache: disk)
        configuration.freshness = .http
        return ImagePipeline(configuration)
    }

    /// A server that sends an old image with these fields, and confirms it.
    private func makeServer(cacheControl control: String, vary: String = "Accept") throws -> ScriptedOrigin {
        let png = try TestImage.png(width: 8, height: 6)
        let fields: KeyValuePairs = [
            "Cache-Control": control, "Vary": vary, "ETag": "\"1\"", "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT",
        ]
        return try ScriptedOrigin { request in
            request.headers["if-none-match"] == nil
                ? [.response(200, headers: fields, body: png)] : [.response(304, headers: fields, body: [])]
        }
    }

    /// The events of a load as short texts.
    private func events(of request: ImageRequest, in pipeline: ImagePipeline) async -> [String] {
        var events: [String] = []
        for await event in pipeline.task(for: request).events {
            switch event {
            case .progress, .preview: break
            case .cached: events.append("cached")
            case .failed(let error): events.append("\(error.code)")
            case .finished(let response):
                switch response.revalidation {
                case .failed(let error): events.append("kept, \(error.code)")
                case .some(let outcome): events.append("\(outcome)")
                case nil: events.append("finished")
                }
            }
        }
        return events
    }

    @Test(
        "L11 C20 refreshCached delivers a stale image from disk, and keeps it if the server cannot be reached"
    )
    func refresh() async throws {
        let request: ImageRequest
        do {
            let server = try makeServer(cacheControl: "no-cache")
            request = ImageRequest(server.url + "/a", options: .refreshCached, cachePolicy: .afterStorage)
            #expect(await events(of: request, in: try makePipeline()) == ["finished"])
            #expect(await events(of: request, in: try makePipeline()) == ["cached", "unchanged"])
            #expect(server.requests.count == 2)
        }
        #expect(await events(of: request, in: try makePipeline()) == ["cached", "kept, connectionRefused"])
    }

    @Test("L06 C20 cachedOnly delivers fresh images, and does not revalidate stale ones")
    func fromCacheOnly() async throws {
        for (control, outcome) in [("max-age=3600", "finished"), ("no-cache", "cacheMiss")] {
            let server = try makeServer(cacheControl: control)
            let request = ImageRequest(server.url + "/a", cachePolicy: .afterStorage)
            _ = try await makePipeline().image(for: request)
            for options: ImageOptions in [[], .refreshCached] {
                let offline = request.with(options: options, cachePolicy: .cachedOnly)
                #expect(await events(of: offline, in: try makePipeline()) == [outcome])
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test("C20 no-store: the image is kept neither on disk nor in memory, whatever its Last-Modified date")
    func noStore() async throws {
        let server = try makeServer(cacheControl: "no-store")
        let request = ImageRequest(server.url + "/a", cachePolicy: .afterStorage), pipeline = try makePipeline()
        for _ in 0..<3 { #expect(try await pipeline.response(for: request).source == .network) }
        #expect(server.requests.count == 3)
        #expect(pipeline.configuration.diskCache?.blocking.usage.entryCount == 0)
    }

    @Test("C20 no-cache holds also for an image that the cache has inserted into memory")
    func noCache() async throws {
        let server = try makeServer(cacheControl: "no-cache")
        let request = ImageRequest(server.url + "/a", cachePolicy: .afterStorage), pipeline = try makePipeline()
        _ = try await pipeline.image(for: request)
        #expect(try await pipeline.cache.image(for: ImageCache.Key(request)) != nil)
        _ = try await pipeline.image(for: request)
        #expect(server.requests.count == 2)
    }

    @Test("C20 a response with Vary: * is stored, and with the maximum age of the cache used without its server")
    func varyEverything() async throws {
        let server = try makeServer(cacheControl: "max-age=31536000", vary: "*")
        let request = ImageRequest(server.url + "/a", cachePolicy: .afterStorage)
        for _ in 0..<2 {
            let disk = try DiskCache(DiskCache.Configuration(directory: directory.path(of: "cache")))
            _ = try await ImagePipeline(ImagePipeline.Configuration(diskCache: disk)).image(for: request)
        }
        #expect(server.requests.count == 1)
        _ = try await makePipeline().image(for: request)
        #expect(server.requests.map { $0.headers["if-none-match"] } == [nil, "\"1\""])
    }

    @Test(
        "C20 L06 an image loaded with cookies is not used without them, and with Vary: Cookie not stored"
    )
    func cookies() async throws {
        for (vary, count) in [("Accept", 1), ("Accept, cookie", 2)] {
            let server = try makeServer(cacheControl: "max-age=3600", vary: vary)
            let plain = ImageRequest(server.url + "/a", cachePolicy: .afterStorage), pipeline = try makePipeline()
            let personal = plain.with(options: .handleCookies, cachePolicy: .afterStorage)
            for _ in 0..<2 { _ = try await pipeline.image(for: personal) }
            #expect(server.requests.count == count)
            for _ in 0..<2 { _ = try await pipeline.image(for: plain) }
            #expect(server.requests.count == count + 1)
        }
    }
}
