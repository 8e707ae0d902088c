import Eidetic
import EideticCore
import EideticTestSupport
import Testing

@Suite("What derived images on disk stand for", .timeLimit(.minutes(2)), .needsNginx)
struct DerivedImageIdentityTests {
    private let size = PixelSize(width: 100, height: 100)

    /// Returns a pipeline over the fixture's directory, as the next run of a program creates it.
    private func nextRun(
        _ fixture: PipelineFixture,
        change: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) throws -> ImagePipeline {
        try fixture.nextRun {
            $0.derivedImages = .init(policy: .both, isExact: true)
            change(&$0)
        }
    }

    /// Stores an image of a size without its bytes, as an application does.
    private func store(_ request: ImageRequest, in fixture: PipelineFixture) async throws {
        let image = try TestImage.image(width: 8, height: 6)
        try await nextRun(fixture).cache.insert(image, for: .init(request), in: .disk)
    }

    @Test("C23 F03 the first frame of an animation in a size does not stand in for all its frames")
    func frames() async throws {
        let fixture = try await PipelineFixture()
        let animation = try TestImage.image(width: 200, height: 100, frames: 3, format: .gif)
        let gif = try animation.encoded(as: .gif)
        let request = ImageRequest(try fixture.server.addFile(gif, at: "a.gif"), size: size)
        let first = request.with(options: .firstFrameOnly)
        #expect(try await load(first, by: try nextRun(fixture)).image.frames.count == 1)
        let all = request.with(options: .preloadAllFrames), pipeline = try nextRun(fixture)
        #expect(try await pipeline.cache.image(for: .init(all))?.frames.count == 3)
        #expect(try nextRun(fixture).cache.blocking.image(for: .init(all))?.frames.count == 3)
        #expect(try await load(all, by: pipeline).image.frames.count == 3)
        let next = try nextRun(fixture)
        #expect(try await load(first, by: next).image.frames.count == 1)
        #expect(next.statistics.derivedHits == 1)
        let playing = try nextRun(fixture)
        #expect(try await load(all, by: playing).image.frames.count == 3)
        #expect(playing.statistics.derivedHits == 0)
    }

    @Test("C23 a still image that is loaded with all its frames, as by widgets, is read in its size in the second run")
    func stills() async throws {
        let fixture = try await PipelineFixture()
        let plain = try fixture.serve(width: 400, height: 300, size: size)
        for options in [ImageOptions.preloadAllFrames, [], .firstFrameOnly] {
            let pipeline = try nextRun(fixture)
            _ = try await load(plain.with(options: options), by: pipeline)
            #expect(pipeline.statistics.derivedHits == (options == .preloadAllFrames ? 0 : 1))
        }
        let second = try nextRun(fixture), all = plain.with(options: .preloadAllFrames)
        _ = try await load(all, by: second)
        #expect(second.statistics.derivedHits == 1)
        #expect(try await nextRun(fixture).cache.lookup(.init(all))?.metadata?.headers.isEmpty == true)
    }

    @Test("C23 a damaged image in pixels with impossible sides is made again")
    func impossibleSides() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(width: 400, height: 300, size: PixelSize(width: 8, height: 8))
        _ = try await load(request, by: try nextRun(fixture))
        let disk = try #require(try nextRun(fixture).configuration.diskCache)
        let key = "\(request.name)\n8x8 fit 0 true ", entry = try #require(try await disk.read(key))
        var bytes = entry.bytes
        for index in 8..<16 { bytes[index] = 255 }
        try await disk.insert(bytes, for: key, metadata: entry.metadata)
        #expect(try await load(request, by: try nextRun(fixture)).image.size.width == 8)
    }

    @Test("C23 L27 an image that a program stored in a size is no source of other sizes, and keeps its scale")
    func ownSizes() async throws {
        let fixture = try await PipelineFixture()
        var request = try fixture.serve(width: 400, height: 300, size: PixelSize(width: 8, height: 8))
        request.rendering.scale = 2
        try await store(request, in: fixture)
        let pipeline = try nextRun(fixture)
        let own = try await load(request, by: pipeline)
        #expect(own.source == .disk && own.image.scale == 2)
        #expect(try await nextRun(fixture).cache.image(for: .init(request))?.scale == 2)
        #expect(try await load(ImageRequest(request.name, size: size), by: pipeline).image.size.width == 100)
        let cache = try nextRun(fixture).cache
        try await cache.insert(try TestImage.image(width: 8, height: 6), for: .init(request))
        #expect(cache[.init(ImageRequest(request.name, size: size))] == nil)
    }

    @Test("C23 L27 an image that a program stored in a size stays if a load cannot decode it")
    func undecodable() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(width: 400, height: 300, size: PixelSize(width: 8, height: 8))
        try await store(request, in: fixture)
        let strict = try nextRun(fixture) { $0.decodeLimits.pixels = 4 }
        #expect(await errorCode { _ = try await load(request, by: strict) } == .limitExceeded)
        #expect(try await load(request, by: try nextRun(fixture)).source == .disk)
        #expect(try await fixture.server.requests().count == 1)
    }

    @Test("C08 C23 the disk has an image in a size only as long as it has the resource that it was made from")
    func contents() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(width: 400, height: 300, size: size)
        let pipeline = try nextRun(fixture)
        _ = try await load(request, by: pipeline)
        for isThere in [true, false] {
            let cache = try nextRun(fixture).cache
            #expect(try await cache.contains(.init(request)) == isThere)
            #expect(try cache.blocking.contains(.init(request)) == isThere)
            #expect((try await cache.image(for: .init(request)) != nil) == isThere)
            try await pipeline.configuration.diskCache?.remove(request.name)
        }
    }

    @Test("C20 C23 an image in a size is fresh in memory as long as its resource; of stale bytes none is kept")
    func freshness() async throws {
        for (directive, entries) in [("max-age=1000", 2), ("no-cache", 1)] {
            let fixture = try await PipelineFixture(.init(server: #"add_header Cache-Control "\#(directive)";"#))
            let request = try fixture.serve(width: 400, height: 300, size: size)
            func run() throws -> ImagePipeline { try nextRun(fixture) { $0.freshness = .http } }
            _ = try await load(request, by: try run())
            let cache = try run().cache
            #expect(try await cache.diskUsage.entryCount == entries)
            guard entries == 2 else { continue }
            _ = try await cache.image(for: .init(request))
            let timeToLive = cache.memory.images.timeToLive(of: ImageCache.Key(request).imageKey)
            #expect(timeToLive.map { $0 > .seconds(900) && $0 <= .seconds(1_000) } == true)
        }
    }

    @Test("C20 C23 a request that forbids to store leaves no image in its size")
    func noStore() async throws {
        let fixture = try await PipelineFixture()
        let plain = try fixture.serve(width: 400, height: 300)
        _ = try await load(plain, by: try nextRun(fixture))
        var request = ImageRequest(plain.name, size: size)
        request.headers["Cache-Control"] = "no-store"
        #expect(try await load(request, by: try nextRun(fixture)).source == .disk)
        #expect(try await nextRun(fixture).cache.diskUsage.entryCount == 1)
    }
}
