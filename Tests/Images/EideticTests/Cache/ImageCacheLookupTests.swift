import Eidetic
import EideticTestSupport
import Glibc
import Testing

@Suite("Image cache: look-up", .timeLimit(.minutes(2)))
struct ImageCacheLookupTests {
    @Test("C07 L15 an image in memory is delivered before the query returns, on the calling thread")
    func memorySynchronously() throws {
        let fixture = try ImageCacheFixture()
        try fixture.cache.blocking.insert(try TestImage.image(), for: "a", in: .memory)
        let thread = pthread_self()
        let results = QueryResults()
        let query = fixture.cache.query("a") { result in
            #expect(pthread_self() == thread)
            results.add(result)
        }
        #expect(query.isFinished)
        #expect(results.values.count == 1)
        #expect(try results.values.first?.get()?.source == .memory)
        query.cancel()
        #expect(results.values.count == 1)
    }

    @Test("C07 C14 L09 a hit on disk is read on a thread of the cache, has the source disk, and fills memory")
    func disk() async throws {
        let fixture = try ImageCacheFixture()
        try fixture.cache.blocking.insert(bytes: try TestImage.png(width: 5, height: 4), for: "a")
        let cache = fixture.nextRun()
        let thread = UInt(pthread_self())
        fixture.plan.before(.open) { #expect(UInt(pthread_self()) != thread) }
        let results = QueryResults()
        cache.query("a") { results.add($0) }
        await results.next()
        let hit = try #require(try results.values.first?.get())
        #expect(hit.source == .disk)
        #expect(hit.image?.size == PixelSize(width: 5, height: 4))
        #expect(hit.bytes != nil)
        #expect(cache["a"]?.size == PixelSize(width: 5, height: 4))
        #expect(try await cache.lookup("a")?.source == .memory)
        #expect(try await cache.image(for: "b") == nil)
        #expect(try await cache.image(for: "a", in: .none) == nil)
        #expect(try await cache.lookup("a", in: .disk)?.source == .disk)
    }

    @Test("C07 a cancelled query completes with cancelled, once, and at once", arguments: [0, 1, 2])
    func cancelled(moment: Int) async throws {
        let fixture = try ImageCacheFixture()
        try fixture.cache.blocking.insert(bytes: try TestImage.png(width: 5, height: 4), for: "a")
        let cache = fixture.nextRun()
        let results = QueryResults()
        let activeQuery = Guarded<ImageQuery?>(nil)
        let gate = BlockingGate()
        if moment == 0 { fixture.plan.before(.open) { gate.wait() } }
        if moment == 1 { fixture.plan.before(.open) { activeQuery.withLock { $0 }?.cancel() } }
        if moment == 2 { fixture.plan.before(.pread) { activeQuery.withLock { $0 }?.cancel() } }
        let query = ImageQuery { results.add($0) }
        activeQuery.withLock { $0 = query }
        cache.start(query, for: "a")
        if moment == 0 { query.cancel() }
        await results.next()
        #expect(query.isFinished)
        #expect(results.values.count == 1)
        #expect(errorCode { _ = try results.values.first?.get() } == .cancelled)
        if moment == 0 { gate.open() }
        // The cache still works.
        #expect(try await cache.image(for: "a") != nil)
        #expect(results.values.count == 1)
    }

    @Test("C07 many concurrent queries share one read and one decode")
    func shared() async throws {
        let fixture = try ImageCacheFixture()
        try fixture.cache.blocking.insert(bytes: try TestImage.png(width: 50, height: 40), for: "a")
        let cache = fixture.nextRun()
        fixture.plan.resetCalls()
        let gate = BlockingGate()
        fixture.plan.before(.open) { gate.wait() }
        let results = QueryResults()
        for _ in 0..<50 { cache.query("a") { results.add($0) } }
        try await eventually("number of look-ups", is: 50) {
            cache.lookups.statistics.started + cache.lookups.statistics.joined
        }
        gate.open()
        try await eventually("number of results", is: 50) { results.values.count }
        let buffers = try results.values.map { ObjectIdentifier(try #require(try $0.get()?.image).pixels) }
        #expect(Set(buffers).count == 1)
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
        #expect(fixture.cache.blocking.diskUsage.entryCount == 0)
    }
}

/// A gate that blocks threads until it is opened.
private final class BlockingGate: Sendable {
    private let monitor = Monitor(false)

    func wait() { monitor.wait { $0 ? () : nil } }

    func open() {
        monitor.withLock { $0 = true }
        monitor.broadcast()
    }
}
