import Eidetic
import EideticCore
import EideticTestSupport
import Testing

/// Images in memory expire when their entries on disk do.
@Suite("Expiry in memory", .timeLimit(.minutes(2)))
struct ImageCacheExpiryTests {
    private let second = Duration.seconds(1)

    @Test("C09 an image that was read from disk is found in memory until its entry expires", arguments: [false, true])
    func cacheHit(hasOwnTime: Bool) async throws {
        let fixture = try ImageCacheFixture { settings, _ in settings.maximumAge = .seconds(hasOwnTime ? 1_000 : 10) }
        let memory = ImageMemoryCache(costLimit: .mebibytes(64), time: fixture.time)
        let cache = ImageCache(memory: memory, disk: fixture.disk)
        var metadata = DiskCache.Metadata()
        if hasOwnTime { metadata.expirationTime = fixture.time.now + .seconds(10) }
        try await cache.insert(bytes: try TestImage.png(width: 5, height: 4), for: "a", metadata: metadata)
        fixture.time.advance(by: .seconds(4))
        #expect(try await cache.lookup("a")?.source == .disk)
        fixture.time.advance(by: .seconds(6) - .milliseconds(1))
        #expect(try await cache.lookup("a")?.source == .memory)
        fixture.time.advance(by: .milliseconds(1))
        #expect(cache["a"] == nil)
        #expect(try await cache.lookup("a") == nil)
    }

    @Test("C09 an inserted image is found in memory as long as its entry")
    func inserted() async throws {
        let fixture = try ImageCacheFixture { settings, _ in settings.maximumAge = .seconds(10) }
        let memory = ImageMemoryCache(costLimit: .mebibytes(64), time: fixture.time)
        let cache = ImageCache(memory: memory, disk: fixture.disk)
        try await cache.insert(try TestImage.image(), for: "a")
        fixture.time.advance(by: .seconds(10) - .milliseconds(1))
        #expect(cache["a"] != nil)
        fixture.time.advance(by: .milliseconds(1))
        #expect(cache["a"] == nil)
    }

    @Test("C09 an image of a pipeline, from its source or disk, and a smaller one made of it expire with the entry")
    func pipeline() async throws {
        let fixture = try ImageCacheFixture { settings, _ in settings.maximumAge = .seconds(10) }
        let resource = try chart(width: 60, height: 40)
        let request = ImageRequest(resource, cachePolicy: .afterStorage)
        let small = ImageRequest(resource, rendering: .init(size: PixelSize(width: 30, height: 20)))
        for isFromSource in [true, false] {
            var configuration = ImagePipeline.Configuration(diskCache: fixture.disk)
            configuration.memoryCache = ImageMemoryCache(costLimit: .mebibytes(64), time: fixture.time)
            let pipeline = ImagePipeline(configuration)
            #expect(try await pipeline.response(for: request).source == (isFromSource ? .provider : .disk))
            #expect(try await pipeline.image(for: small).size.width == 30)
            #expect(pipeline.cache.memoryCount == 2)
            fixture.time.advance(by: .seconds(isFromSource ? 4 : 5))
            #expect(pipeline.cachedImage(for: request) != nil)
            #expect(pipeline.cachedImage(for: small) != nil)
            fixture.time.advance(by: .seconds(6))
            guard !isFromSource else {
                #expect(pipeline.cachedImage(for: request) == nil)
                #expect(pipeline.cachedImage(for: small) == nil)
                // Stored again, one second before the next run.
                _ = try await pipeline.response(for: request)
                fixture.time.advance(by: second)
                continue
            }
            #expect(pipeline.cachedImage(for: request) == nil)
            #expect(pipeline.cachedImage(for: small) == nil)
        }
    }

    @Test("C09 a request says how long memory and disk keep its image, longer or shorter than others")
    func requested() async throws {
        for maximumAge in [Duration.seconds(5), .seconds(1_000)] {
            let fixture = try ImageCacheFixture { settings, _ in settings.maximumAge = maximumAge }
            let png = try TestImage.png(width: 6, height: 4)
            let resource = ImageRequest.Resource.provider(name: "chart") { () throws(EideticError) in png }
            var request = ImageRequest(resource, cachePolicy: .afterStorage)
            request.cachePolicy.timeToLive = .seconds(10)
            func makePipeline() -> ImagePipeline {
                var configuration = ImagePipeline.Configuration(diskCache: fixture.disk)
                configuration.downloads.time = fixture.time
                configuration.memoryCache = ImageMemoryCache(costLimit: .mebibytes(64), time: fixture.time)
                return ImagePipeline(configuration)
            }
            let pipeline = makePipeline()
            #expect(try await pipeline.response(for: request).source == .provider)
            fixture.time.advance(by: .seconds(10) - .milliseconds(1))
            #expect(pipeline.cachedImage(for: request) != nil)
            #expect(try await makePipeline().response(for: request).source == .disk)
            fixture.time.advance(by: .milliseconds(1))
            #expect(pipeline.cachedImage(for: request) == nil)
            #expect(try await makePipeline().response(for: request).source == .provider)
        }
    }

    @Test("C09 an image that the disk has stays in memory as long as its request says, and on disk as before")
    func requestedFromDisk() async throws {
        let fixture = try ImageCacheFixture { settings, _ in settings.maximumAge = .seconds(1_000) }
        let resource = try chart(width: 6, height: 4)
        var request = ImageRequest(resource, cachePolicy: .afterStorage)
        var configuration = ImagePipeline.Configuration(diskCache: fixture.disk)
        configuration.downloads.time = fixture.time
        configuration.memoryCache = ImageMemoryCache(costLimit: .mebibytes(64), time: fixture.time)
        _ = try await ImagePipeline(.init(diskCache: fixture.disk)).image(for: request)
        request.cachePolicy.timeToLive = .seconds(10)
        let pipeline = ImagePipeline(configuration)
        #expect(try await pipeline.response(for: request).source == .disk)
        fixture.time.advance(by: .seconds(10))
        #expect(pipeline.cachedImage(for: request) == nil)
        #expect(try await pipeline.response(for: request).source == .disk)
    }

    @Test("C09 the time of a request begins again when the server confirms its image")
    func confirmed() async throws {
        let fixture = try ImageCacheFixture { settings, _ in settings.maximumAge = .seconds(1_000) }
        let png = try TestImage.png(width: 6, height: 4)
        let server = try ScriptedOrigin { request in
            let isKnown = request.headers["if-none-match"] != nil
            let headers: KeyValuePairs = ["ETag": "\"1\"", "Cache-Control": "max-age=600"]
            return [.response(isKnown ? 304 : 200, headers: headers, body: isKnown ? [] : png)]
        }
        var configuration = ImagePipeline.Configuration(diskCache: fixture.disk)
        configuration.downloads.time = fixture.time
        let pipeline = ImagePipeline(configuration)
        var request = ImageRequest(server.url + "/a", options: .refreshCached, cachePolicy: .afterStorage)
        request.cachePolicy.timeToLive = Duration.seconds(10)
        _ = try await pipeline.image(for: request)
        fixture.time.advance(by: .seconds(6))
        let confirmed = try await pipeline.response(for: request)
        let isUnchanged = if case .unchanged = confirmed.revalidation { true } else { false }
        #expect(isUnchanged)
        let key = ImageCache.Key(request)
        fixture.time.advance(by: .seconds(10) - .milliseconds(1))
        #expect(try await pipeline.cache.contains(key, in: .disk))
        fixture.time.advance(by: .milliseconds(1))
        #expect(try await !pipeline.cache.contains(key, in: .disk))
    }

    private func chart(width: Int, height: Int) throws -> ImageRequest.Resource {
        let png = try TestImage.png(width: width, height: height)
        return .provider(name: "chart") { () throws(EideticError) in png }
    }
}
