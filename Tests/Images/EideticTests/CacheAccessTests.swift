import Eidetic
import EideticCore
import EideticTestSupport
import Testing

@Suite("Caches that a request may read and write, and its own key", .timeLimit(.minutes(2)), .needsNginx)
struct CacheAccessTests {
    private func response(_ request: ImageRequest, from pipeline: ImagePipeline) async throws -> ImageResponse {
        var request = request
        request.cachePolicy.waitsForStorage = true
        let response = try await pipeline.response(for: request)
        try await eventually("the pipeline is idle") { pipeline.isIdle }
        return response
    }

    @Test("C08 a request that may not write a cache leaves it as it was")
    func writes() async throws {
        for (policy, memory, disk) in [
            (.standard, true, 1), (.noStore, false, 0), (.memoryOnly, true, 0), (.init(writes: .original), false, 1),
        ] as [(ImageRequest.CachePolicy, Bool, Int)] {
            let fixture = try await PipelineFixture(), pipeline = fixture.pipeline
            var request = try fixture.serve()
            request.cachePolicy = policy
            _ = try await response(request, from: pipeline)
            request.cachePolicy = .standard
            #expect((pipeline.cachedImage(for: request) != nil) == memory)
            #expect(try await pipeline.cache.diskUsage.entryCount == disk)
        }
    }

    @Test("C08 a request that may not read a cache is answered by the next one")
    func reads() async throws {
        let fixture = try await PipelineFixture(), pipeline = fixture.pipeline
        var request = try fixture.serve()
        _ = try await response(request, from: pipeline)
        request.cachePolicy.reads.remove(.memory)
        #expect(pipeline.cachedImage(for: request) == nil)
        #expect(try await response(request, from: pipeline).source == .disk)
        request.cachePolicy.reads.remove(.original)
        #expect(try await response(request, from: pipeline).source == .network)
        request.cachePolicy.reads.insert(.memory)
        #expect(try await response(request, from: pipeline).source == .memory)
        request.cachePolicy = .init(reads: [])
        request.cachePolicy.search = .cachesOnly
        await #expect { try await pipeline.response(for: request) } throws: {
            ($0 as? EideticError)?.code == .cacheMiss
        }
    }

    @Test("C23 derived images are neither written nor read if the request forbids it")
    func derived() async throws {
        let fixture = try await PipelineFixture()
        var configuration = fixture.pipeline.configuration
        configuration.derivedImages.policy = .both
        var request = try fixture.serve(width: 400, height: 300, size: PixelSize(width: 100, height: 100))
        request.cachePolicy.writes.remove(.derived)
        for _ in 0..<2 { _ = try await response(request, from: ImagePipeline(configuration)) }
        #expect(try await fixture.pipeline.cache.diskUsage.entryCount == 1)
        request.cachePolicy = .standard
        for hits in 0...1 {
            let pipeline = ImagePipeline(configuration)
            _ = try await response(request, from: pipeline)
            #expect(pipeline.statistics.derivedHits == hits)
        }
        request.cachePolicy.reads.remove(.derived)
        let pipeline = ImagePipeline(configuration)
        #expect(try await response(request, from: pipeline).source == .disk && pipeline.statistics.derivedHits == 0)
    }

    @Test("C05 requests with equal keys are one image, whatever their URLs; a processor can set the key of all")
    func key() async throws {
        let fixture = try await PipelineFixture(), plain = try fixture.serve()
        var configuration = fixture.pipeline.configuration
        @Sendable func name(_ request: ImageRequest) throws(EideticError) -> ImageRequest {
            var request = request
            request.cacheKey = String(request.name.prefix { $0 != "?" })
            return request
        }
        configuration.requestProcessors = [name]
        let pipeline = ImagePipeline(configuration)
        for number in 0..<3 { _ = try await response(ImageRequest("\(plain.name)?\(number)"), from: pipeline) }
        #expect(try await fixture.server.requests().count == 1)
        let hit = try await pipeline.cache.lookup(.init(plain.name), in: .disk)
        #expect(hit?.image?.size == PixelSize(width: 64, height: 48))
        var named = plain
        named.cacheKey = "another"
        #expect(named != plain)
        #expect(try await response(named, from: fixture.pipeline).source == .network)
        #expect(try await fixture.pipeline.cache.image(for: "another") != nil)
    }

    @Test("C04 a key that is nil is that of the URL; an image with an empty or over-long one is in memory only")
    func unusualKeys() async throws {
        let fixture = try await PipelineFixture(), plain = try fixture.serve()
        let requests = [nil, "", String(repeating: "k", count: 1 << 20)].map { key in
            var request = plain
            request.cacheKey = "before"
            request.cacheKey = key
            return request
        }
        #expect(requests[0] == plain && Set(requests).count == 3)
        for sources in [[ImageSource.network, .network, .network], [.disk, .network, .network]] {
            let pipeline = try fixture.nextRun()
            for (request, source) in zip(requests, sources) {
                #expect(try await response(request, from: pipeline).source == source)
                #expect(try await response(request, from: pipeline).source == .memory)
            }
        }
        #expect(try await fixture.pipeline.cache.diskUsage.entryCount == 1)
    }

    @Test("L26 the scale of a request marks the image, before that of the name, and is a part of the identity")
    func scale() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve("a@2x.png")
        #expect(try await response(request, from: fixture.pipeline).image.scale == 2)
        var other = request
        other.rendering.scale = 1.5
        #expect(other != request)
        #expect(try await response(other, from: fixture.pipeline).image.scale == 1.5)
        #expect(try await response(other, from: try fixture.nextRun()).image.scale == 1.5)
    }
}
