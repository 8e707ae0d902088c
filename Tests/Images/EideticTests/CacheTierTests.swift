import Eidetic
import EideticCore
import EideticTestSupport
import Synchronization
import Testing

/// A cache of an application: entries in a dictionary, in their encoded form.
private final class DictionaryTier: EncodedImageTier {
    let entries = Mutex<[String: [UInt8]]>([:])
    /// The error that each call throws, if any.
    let failure = Mutex<EideticError?>(nil)

    private func check() throws(EideticError) { if let error = failure.withLock({ $0 }) { throw error } }

    func entry(for key: String) throws(EideticError) -> DiskCache.Entry? {
        try check()
        guard let bytes = entries.withLock({ $0[key] }) else { return nil }
        return try DiskCache.Entry(encoded: bytes, for: key)
    }

    func insert(_ entry: DiskCache.Entry) throws(EideticError) {
        try check()
        entries.withLock { $0[entry.key] = entry.encoded }
    }

    func remove(_ key: String) throws(EideticError) {
        try check()
        _ = entries.withLock { $0.removeValue(forKey: key) }
    }

    func removeAll() throws(EideticError) {
        try check()
        entries.withLock { $0 = [:] }
    }

    var count: Int { entries.withLock { $0.count } }
}

/// A memory cache of an application, without a limit.
private final class DictionaryMemory: ImageMemoryTier {
    let images = Mutex<[CacheKey: Image]>([:])

    func image(for key: CacheKey) -> Image? { images.withLock { $0[key] } }
    func insert(_ image: Image, for key: CacheKey, timeToLive: Duration?) { images.withLock { $0[key] = image } }
    func remove(_ key: CacheKey) { images.withLock { $0[key] = nil } }
    func removeAll() { images.withLock { $0 = [:] } }
    var count: Int { images.withLock { $0.count } }
}

@Suite("Several caches in a row, and those of the application", .timeLimit(.minutes(2)), .needsNginx)
struct CacheTierTests {
    /// Returns a pipeline whose disk cache has its own directory, and tiers behind it.
    private func pipeline(
        _ name: String,
        of fixture: PipelineFixture,
        tiers: [DiskCache.Tier],
        change: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) throws -> ImagePipeline {
        var configuration = DiskCache.Configuration(directory: fixture.directory.path(of: name))
        configuration.tiers = tiers
        var pipeline = ImagePipeline.Configuration(diskCache: try DiskCache(configuration))
        change(&pipeline)
        return ImagePipeline(pipeline)
    }

    private func load(_ request: ImageRequest, from pipeline: ImagePipeline) async throws -> ImageSource {
        let source = try await pipeline.response(for: request.with(cachePolicy: .afterStorage)).source
        try await eventually("the pipeline is idle") { pipeline.isIdle }
        return source
    }

    @Test("C08 new entries are stored in the tiers that are written, and found in each of a row", arguments: 0...1)
    func rows(kind: Int) async throws {
        let fixture = try await PipelineFixture(), request = try fixture.serve(), own = DictionaryTier()
        let second = try DiskCache(DiskCache.Configuration(directory: fixture.directory.path(of: "second")))
        func tier(isWritten: Bool) -> DiskCache.Tier {
            kind == 0 ? .init(own, isWritten: isWritten) : .init(second, isWritten: isWritten)
        }
        let unwritten = DictionaryTier(), behind = DiskCache.Tier(unwritten)
        let first = try pipeline("a", of: fixture, tiers: [behind, tier(isWritten: true)])
        #expect(try await load(request, from: first) == .network)
        #expect(unwritten.count == 0)
        let next = try pipeline("b", of: fixture, tiers: [behind, tier(isWritten: false)])
        #expect(try await next.cache.contains(.init(request)))
        #expect(try await load(request, from: next) == .disk)
        // It is used where it is, and not copied.
        #expect(try await next.cache.diskUsage.entryCount == 0)
        #expect(try await fixture.server.requests().count == 1)
        try await next.cache.removeAll()
        #expect(try await load(request, from: next) == .disk)
        try await next.cache.remove(.init(request))
        #expect(try await load(request, from: next) == .network)
    }

    @Test("C08 all entries are removed from the tiers that are written")
    func removeAll() async throws {
        let fixture = try await PipelineFixture(), tier = DictionaryTier()
        let pipeline = try pipeline("a", of: fixture, tiers: [.init(tier, isWritten: true)])
        _ = try await load(try fixture.serve(), from: pipeline)
        #expect(tier.count == 1)
        try await pipeline.cache.removeAll()
        #expect(tier.count == 0)
    }

    @Test("C08 C21 a tier that fails, or whose entry is damaged, counts as one without the entry")
    func failures() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.serve(), tier = DictionaryTier()
        let tiers = [DiskCache.Tier(tier, isWritten: true)]
        tier.failure.withLock { $0 = EideticError(.fileFailure, message: "gone") }
        #expect(try await load(request, from: try pipeline("a", of: fixture, tiers: tiers)) == .network)
        tier.failure.withLock { $0 = nil }
        #expect(try await load(request, from: try pipeline("b", of: fixture, tiers: tiers)) == .network)
        tier.entries.withLock { entries in for key in entries.keys { entries[key]?[40] ^= 1 } }
        #expect(try await load(request, from: try pipeline("c", of: fixture, tiers: tiers)) == .network)
        #expect(try await load(request, from: try pipeline("d", of: fixture, tiers: tiers)) == .disk)
    }

    @Test("C08 C20 a stale entry of a tier is confirmed by its server, and a changed image is stored")
    func revalidation() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.serve(), tier = DictionaryTier()
        let tiers = [DiskCache.Tier(tier, isWritten: true)]
        _ = try await load(request, from: try pipeline("a", of: fixture, tiers: tiers))
        let refreshing = request.with(options: .refreshCached, cachePolicy: .afterStorage)
        _ = try await pipeline("b", of: fixture, tiers: tiers).image(for: refreshing)
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        let last = try pipeline("c", of: fixture, tiers: tiers)
        #expect(try await last.image(for: refreshing).size == PixelSize(width: 20, height: 10))
        try await eventually("the pipeline is idle") { last.isIdle }
        #expect(try await fixture.server.requests().map(\.status) == [200, 304, 200])
        let after = try pipeline("d", of: fixture, tiers: tiers)
        #expect(try await after.image(for: request).size == PixelSize(width: 20, height: 10))
    }

    @Test("C08 a memory cache of the application has the image at once, and loses it when it is removed or replaced")
    func memory() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.serve(), tier = DictionaryMemory()
        let pipeline = try pipeline("a", of: fixture, tiers: []) { ($0.memoryLimit, $0.memoryTier) = (.zero, tier) }
        #expect(try await load(request, from: pipeline) == .network)
        #expect(tier.count == 1)
        #expect(pipeline.cachedImage(for: request)?.size == PixelSize(width: 64, height: 48))
        #expect(try await load(request, from: pipeline) == .memory)
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        _ = try await pipeline.image(for: request.with(options: .refreshCached, cachePolicy: .afterStorage))
        let smaller = ImageRequest(request.name, size: PixelSize(width: 5, height: 5))
        _ = try await load(smaller, from: pipeline)
        #expect(pipeline.cachedImage(for: request)?.size == PixelSize(width: 20, height: 10))
        #expect(tier.count == 2)
        try await pipeline.cache.remove(.init(request), from: .memory)
        #expect(pipeline.cachedImage(for: request) == nil && tier.count == 0)
        #expect(try await load(request, from: pipeline) == .disk)
        pipeline.removeAllFromMemory()
        #expect(tier.count == 0)
    }
}
