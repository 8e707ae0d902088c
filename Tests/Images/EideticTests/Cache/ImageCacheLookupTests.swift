import Eidetic
import EideticCodecs
import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("Image cache: look-up", .timeLimit(.minutes(2)))
struct ImageCacheLookupTests {
    @Test("C07 L15 an image in memory is found at once, without a look at the disk")
    func memorySynchronously() async throws {
        let fixture = try ImageCacheFixture(), cache = fixture.cache, image = try TestImage.image()
        try cache.blocking.insert(image, for: "a", in: .memory)
        fixture.plan.resetCalls()
        #expect(cache["a"]?.pixels === image.pixels)
        #expect(try await cache.lookup("a")?.source == .memory)
        #expect(try cache.blocking.image(for: "a")?.pixels === image.pixels)
        #expect(fixture.plan.count(of: .open) == 0)
    }

    @Test("C07 C14 L09 a hit on disk is read on a thread of the cache, has the source disk, and fills memory")
    @MainActor
    func disk() async throws {
        let fixture = try ImageCacheFixture()
        try fixture.cache.blocking.insert(bytes: try TestImage.png(width: 5, height: 4), for: "a")
        let cache = fixture.nextRun()
        let thread = UInt(pthread_self())
        fixture.plan.before(.open) { #expect(UInt(pthread_self()) != thread) }
        let hit = try #require(try await cache.lookup("a"))
        #expect(hit.source == .disk)
        #expect(hit.image?.size == PixelSize(width: 5, height: 4))
        #expect(hit.bytes != nil)
        #expect(cache["a"]?.size == PixelSize(width: 5, height: 4))
        #expect(try await cache.lookup("a")?.source == .memory)
        #expect(try await cache.image(for: "b") == nil)
        #expect(try await cache.image(for: "a", in: .none) == nil)
        #expect(try await cache.lookup("a", in: .disk)?.source == .disk)
    }

    @Test("C07 a cancelled look-up ends at once, with cancelled", arguments: [SystemCall.open, .pread])
    func cancelled(during call: SystemCall) async throws {
        let fixture = try ImageCacheFixture()
        try fixture.cache.blocking.insert(bytes: try TestImage.png(width: 5, height: 4), for: "a")
        let cache = fixture.nextRun(), started = Gate(), proceed = Gate()
        fixture.plan.before(call) {
            started.open()
            proceed.block()
        }
        let lookup = Task { try await cache.lookup("a") }
        await started.wait()
        lookup.cancel()
        // The read is still waiting.
        let result = await lookup.result
        #expect(errorCode { _ = try result.get() } == .cancelled)
        proceed.open()
        // The cache still works.
        #expect(try await cache.image(for: "a") != nil)
    }

    @Test("C07 many concurrent look-ups share one read and one decode")
    func shared() async throws {
        let fixture = try ImageCacheFixture()
        try fixture.cache.blocking.insert(bytes: try TestImage.png(width: 50, height: 40), for: "a")
        let cache = fixture.nextRun()
        fixture.plan.resetCalls()
        let gate = Gate()
        fixture.plan.before(.open) { gate.block() }
        let lookups = (0..<50).map { _ in Task.immediate { try await cache.lookup("a")?.image } }
        #expect(cache.lookups.statistics.started + cache.lookups.statistics.joined == 50)
        gate.open()
        var buffers: Set<ObjectIdentifier> = []
        for lookup in lookups { buffers.insert(ObjectIdentifier(try #require(try await lookup.value).pixels)) }
        #expect(buffers.count == 1)
        #expect(fixture.plan.count(of: .open) == 1)
    }

    @Test("C07 a larger image in memory is used for a smaller size, not the reverse")
    func largerDecode() async throws {
        let fixture = try ImageCacheFixture()
        try fixture.cache.blocking.insert(bytes: try TestImage.png(width: 640, height: 480), for: "a")
        let cache = fixture.nextRun()
        let small = ImageCache.Key("a", rendering: .init(size: PixelSize(width: 64, height: 64)))
        #expect(try await cache.image(for: small)?.size == PixelSize(width: 64, height: 48))
        #expect(cache["a"] == nil)
        _ = try await cache.image(for: "a")
        cache.memory.images.remove(small.imageKey)
        #expect(cache[small]?.size == PixelSize(width: 640, height: 480))
    }

    @Test("C07 the bytes of an animation whose first frame is in memory are read from disk")
    func animation() async throws {
        let fixture = try ImageCacheFixture()
        try fixture.cache.blocking.insert(try TestImage.image(frames: 3), for: "a")
        let cache = fixture.nextRun()
        #expect(try await cache.image(for: "a")?.animation?.frameCount == 3)
        let hit = try #require(try await cache.lookup("a", includingData: true))
        #expect(hit.source == .memory)
        #expect(try ImageDecoder.header(of: try #require(hit.bytes))?.frameCount == 3)
        let all = ImageCache.Key("a", options: .preloadAllFrames)
        #expect(try await cache.image(for: all)?.frames.count == 3)
    }

    @Test("C13 without decodesOnRead a hit has bytes only, and memory is not filled")
    func withoutDecoding() async throws {
        var configuration = ImageCache.Configuration()
        configuration.decodesOnRead = false
        let fixture = try ImageCacheFixture(configuration)
        let bytes = try TestImage.png(width: 5, height: 4)
        try fixture.cache.blocking.insert(bytes: bytes, for: "a")
        let hit = try #require(try await fixture.cache.lookup("a"))
        #expect(hit.image == nil)
        #expect(hit.bytes == bytes)
        #expect(fixture.cache.memoryCount == 0)
    }

    @Test("C15 an image from disk has the scale in its key", arguments: [("a.png", 1.0), ("a@2x.png?v=1", 2)])
    func scale(name: String, expected scale: Double) throws {
        let fixture = try ImageCacheFixture()
        try fixture.cache.blocking.insert(bytes: try TestImage.png(width: 5, height: 4), for: .init(name))
        #expect(try fixture.cache.blocking.image(for: .init(name))?.scale == scale)
    }

    @Test("C09 with a maximum age of 1 s an image is found for a second, and then in no tier")
    func age() async throws {
        let fixture = try ImageCacheFixture { settings, _ in settings.maximumAge = .seconds(1) }
        try fixture.cache.blocking.insert(try TestImage.image(), for: "a", in: .disk)
        #expect(try fixture.cache.blocking.contains("a"))
        fixture.time.advance(by: .seconds(1))
        #expect(try !fixture.cache.blocking.contains("a"))
        #expect(try await fixture.cache.image(for: "a") == nil)
        #expect(try fixture.disk.blocking.removeExpired() == 1)
        #expect(fixture.cache.blockingDiskUsage.entryCount == 0)
    }
}
