import Eidetic
import EideticCore
import EideticTestSupport
import Testing

@Suite("Derived images whose originals change, or are not there", .timeLimit(.minutes(2)), .needsNginx)
struct DerivedImageValidationTests {
    private typealias Policy = ImagePipeline.Configuration.DerivedImages.Policy

    private let size = PixelSize(width: 100, height: 100)
    private let time = ManualTime(now: SystemTime().now)

    /// Returns a pipeline over the fixture's directory, as the next run of a program creates it.
    private func nextRun(
        _ fixture: PipelineFixture,
        _ policy: Policy = .both,
        isExact: Bool = true,
        freshness: ImagePipeline.Configuration.Freshness = .http,
        change: (inout DiskCache.Configuration) -> Void = { _ in }
    ) throws -> ImagePipeline {
        var settings = DiskCache.Configuration(directory: fixture.directory.path(of: "cache"))
        change(&settings)
        var configuration = ImagePipeline.Configuration(
            diskCache: try DiskCache(settings, fileSystem: FileSystem(), time: time)
        )
        configuration.derivedImages = .init(policy: policy, isExact: isExact)
        configuration.downloads.time = time
        configuration.freshness = freshness
        return ImagePipeline(configuration)
    }

    private func server() async throws -> PipelineFixture {
        try await PipelineFixture(.init(server: #"add_header Cache-Control "max-age=60";"#))
    }

    private func statuses(_ fixture: PipelineFixture) async throws -> [Int] {
        try await fixture.server.requests().map(\.status)
    }

    @Test("C23 C20 a size of stale bytes is not used before their server has confirmed them")
    func unchanged() async throws {
        let fixture = try await server(), request = try fixture.serve(width: 400, height: 300, size: size)
        _ = try await load(request, by: try nextRun(fixture))
        time.advance(by: .seconds(90))
        // For the server, whose clock is the real one, the response is as old as before.
        let runs: [(ImagePipeline.Configuration.Freshness, derivedHits: Int)] = [(.http, 0), (.maximumAge, 1)]
        for (freshness, derivedHits) in runs {
            let pipeline = try nextRun(fixture, freshness: freshness)
            #expect(try await load(request, by: pipeline).image.size == PixelSize(width: 100, height: 75))
            #expect(pipeline.statistics.derivedHits == derivedHits)
            #expect(try await statuses(fixture) == [200, 304])
        }
    }

    @Test("C23 C20 a size of stale bytes is not used after their server has sent others")
    func changed() async throws {
        let fixture = try await server(), request = try fixture.serve(width: 400, height: 300, size: size)
        _ = try await load(request, by: try nextRun(fixture))
        time.advance(by: .seconds(90))
        try fixture.server.addFile(try TestImage.png(width: 300, height: 600), at: "a.png")
        let response = try await load(request, by: try nextRun(fixture))
        #expect(response.source == .network && response.image.size == PixelSize(width: 50, height: 100))
        #expect(try await statuses(fixture) == [200, 200])
        let third = try await load(request, by: try nextRun(fixture, freshness: .maximumAge))
        #expect(third.source == .disk && third.image.size.width == 50)
        #expect(try await statuses(fixture) == [200, 200])
    }

    @Test("C23 L11 a refresh shows a size of stale bytes, and asks their server whether they have changed")
    func refresh() async throws {
        let fixture = try await server(), plain = try fixture.serve(width: 400, height: 300, size: size)
        _ = try await load(plain, by: try nextRun(fixture))
        time.advance(by: .seconds(90))
        let response = try await load(plain.with(options: .refreshCached), by: try nextRun(fixture))
        let isUnchanged = if case .unchanged = response.revalidation { true } else { false }
        #expect(isUnchanged && response.image.size.width == 100)
        #expect(try await statuses(fixture) == [200, 304])
    }

    @Test("C23 L19 a size on disk is not prefetched again")
    func prefetch() async throws {
        let fixture = try await server(), request = try fixture.serve(width: 400, height: 300, size: size)
        _ = try await load(request, by: try nextRun(fixture))
        let pipeline = try nextRun(fixture)
        let progress = await ImagePrefetcher(pipeline: pipeline, destination: .disk).prefetch([request]).finish()
        #expect(progress.finished == 1 && progress.failed == 0)
        #expect(pipeline.cachedImage(for: request) == nil)
        #expect(try await statuses(fixture) == [200])
    }

    @Test(
        "C23 an image that was made from a larger one in memory is read in the next run, by policy",
        arguments: [
            (Policy.both, 1), (.automatic, 0), (.originals, 0),
        ]
    )
    private func fromMemory(policy: Policy, hits: Int) async throws {
        let fixture = try await server(), full = try fixture.serve(width: 400, height: 300)
        let request = ImageRequest(full.name, size: size)
        let pipeline = try nextRun(fixture, policy, isExact: false)
        _ = try await load(full, by: pipeline)
        #expect(try await load(request, by: pipeline).source == .memory)
        let second = try nextRun(fixture, policy, isExact: false)
        #expect(try await load(request, by: second).source == .disk)
        #expect(second.statistics.derivedHits == hits)
    }

    @Test("C23 with isExact an image is decoded, although a larger one is in memory")
    func exact() async throws {
        let fixture = try await server(), full = try fixture.serve(width: 400, height: 300)
        let pipeline = try nextRun(fixture)
        _ = try await load(full, by: pipeline)
        #expect(try await load(ImageRequest(full.name, size: size), by: pipeline).source == .disk)
    }

    @Test("C23 with isExact no image on disk is used that a pipeline without it has left, and it is replaced")
    func exactAfterInexact() async throws {
        let fixture = try await server(), full = try fixture.serve(width: 400, height: 300)
        let request = ImageRequest(full.name, size: size)
        let inexact = try nextRun(fixture, isExact: false)
        _ = try await load(full, by: inexact)
        _ = try await load(request, by: inexact)
        func hits(isExact: Bool) async throws -> Int {
            let pipeline = try nextRun(fixture, isExact: isExact)
            _ = try await load(request, by: pipeline)
            return pipeline.statistics.derivedHits
        }
        #expect(try await hits(isExact: false) == 1)
        // The cache of the pipeline makes it from the resource, too.
        let cached = try nextRun(fixture).cache
        #expect(try await cached.lookup(.init(request))?.bytes?.count == cached.lookup(.init(full))?.bytes?.count)
        #expect(try await hits(isExact: true) == 0)
        #expect(try await hits(isExact: true) == 1)
        #expect(try await hits(isExact: false) == 1)
    }

    @Test("C23 an image that a program stored in a size stays after the first load and a 304, not after new bytes")
    func ownSize() async throws {
        let fixture = try await server()
        let own = try fixture.serve(width: 400, height: 300, size: PixelSize(width: 8, height: 8))
        func run() throws -> ImagePipeline { try nextRun(fixture, .both, freshness: .maximumAge) }
        try await run().cache.insert(try TestImage.image(width: 8, height: 6), for: .init(own), in: .disk)
        func isOwn() async throws -> Bool {
            let pipeline = try run()
            _ = try await load(own, by: pipeline)
            return pipeline.statistics.derivedHits == 1
        }
        time.advance(by: .seconds(10))
        _ = try await load(ImageRequest(own.name), by: try run())
        #expect(try await isOwn())
        time.advance(by: .seconds(10))
        let refresh = ImageRequest(own.name, options: .refreshCached)
        _ = try await load(refresh, by: try run())
        #expect(try await statuses(fixture) == [200, 304])
        #expect(try await isOwn())
        time.advance(by: .seconds(10))
        try fixture.server.addFile(try TestImage.png(width: 300, height: 600), at: "a.png")
        _ = try await load(refresh, by: try run())
        #expect(try await load(own, by: try run()).image.size == PixelSize(width: 4, height: 8))
        #expect(try await statuses(fixture) == [200, 304, 200])
    }

    @Test("C23 C05 of an original in a bundle, which the own directory does not know, no size is written")
    func bundle() async throws {
        let fixture = try await server(), request = try fixture.serve(width: 400, height: 300, size: size)
        let name = "bundle/\(MD5.hexadecimal(Array(request.name.utf8))).png"
        try fixture.directory.write(try TestImage.png(width: 400, height: 300), to: name)
        let pipeline = try nextRun(fixture, .both, freshness: .maximumAge) {
            $0.bundles = [ImageBundle(directory: fixture.directory.path(of: "bundle"))]
        }
        #expect(try await load(request, by: pipeline).source == .disk)
        #expect(try await pipeline.cache.diskUsage.entryCount == 0)
        #expect(try await statuses(fixture) == [])
    }

    @Test("C06 new bytes that a program inserts remove the sizes and transforms of the old ones from memory")
    func insertion() async throws {
        let fixture = try await server(), small = try fixture.serve(width: 400, height: 300, size: size)
        let pipeline = try nextRun(fixture, .both, freshness: .maximumAge), cache = pipeline.cache
        let gray = ImageRequest(small.name).with(rendering: .init(transform: .grayscale))
        for request in [small, gray] { _ = try await load(request, by: pipeline) }
        #expect(cache[.init(small)] != nil && cache[.init(gray)] != nil)
        try await cache.insert(bytes: try TestImage.png(width: 300, height: 600), for: .init(small.name))
        #expect(cache[.init(small)] == nil && cache[.init(gray)] == nil)
        #expect(try await load(small, by: pipeline).image.size.width == 50)
        try cache.blocking.insert(bytes: try TestImage.png(width: 200, height: 200), for: .init(small.name))
        #expect(cache[.init(small)] == nil)
        let next = try nextRun(fixture, .both, freshness: .maximumAge)
        #expect(try await load(small, by: next).image.size == size)
    }
}
