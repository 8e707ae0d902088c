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
        let png = try TestImage.png(width: 60, height: 40)
        let resource = ImageRequest.Resource.provider(name: "chart") { () throws(EideticError) in png }
        let request = ImageRequest(resource, cachePolicy: .afterStorage)
        let small = ImageRequest(resource, rendering: .init(size: PixelSize(width: 30, height: 20)))
        for isFromSource in [true, false] {
            var configuration = ImagePipeline.Configuration(diskCache: fixture.disk)
            configuration.memoryCache = ImageMemoryCache(costLimit: .mebibytes(64), time: fixture.time)
            let pipeline = ImagePipeline(configuration)
            #expect(try await pipeline.response(for: request).source == .disk)
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
}
