import Eidetic
import EideticTestSupport
import Testing

/// Request processors and interceptors, for loads and prefetches.
@Suite("Processors and interceptors", .timeLimit(.minutes(2)))
struct InterceptorTests {
    /// A server that records its requests, and a pipeline with a disk cache.
    private struct InterceptorFixture {
        let directory: TemporaryDirectory
        let server: ScriptedOrigin
        let pipeline: ImagePipeline

        init(_ change: (inout ImagePipeline.Configuration) -> Void) throws {
            let png = try TestImage.png(width: 8, height: 6)
            server = try ScriptedOrigin { _ in [.response(200, headers: [:], body: png)] }
            directory = try TemporaryDirectory(named: "interceptors")
            var configuration = ImagePipeline.Configuration(
                diskCache: try DiskCache(.init(directory: directory.path(of: "cache")))
            )
            change(&configuration)
            pipeline = ImagePipeline(configuration)
        }
    }

    @Test("L19 L20 a prefetch is intercepted, found by loads, and counted")
    func prefetch() async throws {
        for destination in [ImagePrefetcher.Destination.disk, .memory] {
            let fixture = try InterceptorFixture { $0.interceptors = [SigningInterceptor()] },
                pipeline = fixture.pipeline
            let requests = ["a", "forbidden"].map { ImageRequest("\(fixture.server.url)/\($0)") }
            let group = ImagePrefetcher(pipeline: pipeline, destination: destination).prefetch(requests)
            #expect(await group.finish().failed == 1)
            #expect(fixture.server.requests.map(\.path) == ["/a"])
            #expect(fixture.server.requests.first?.headers["authorization"] == "Bearer 42")
            let statistics = pipeline.statistics
            #expect(statistics.loads == 2 && statistics.networkLoads == 1 && statistics.failures == 1)
            try await eventually("the pipeline is idle") { pipeline.isIdle }
            let source = try await pipeline.response(for: requests[0].with(options: [], cachePolicy: .cachedOnly))
                .source
            #expect(source == (destination == .disk ? .disk : .memory))
        }
    }

    @Test("L19 L22 a prefetch stays at low priority, whatever processors set")
    func prefetchPriority() async throws {
        for destination in [ImagePrefetcher.Destination.disk, .memory] {
            let fixture = try InterceptorFixture { $0.requestProcessors = [{ ImageRequest($0.resource) }] },
                pipeline = fixture.pipeline
            pipeline.isUserInteracting = true
            let group = ImagePrefetcher(pipeline: pipeline, destination: destination)
                .prefetch([ImageRequest(fixture.server.url + "/later")])
            try await eventually("number of loads", is: 1) { pipeline.statistics.loads }
            _ = try await pipeline.image(for: ImageRequest(fixture.server.url + "/now"))
            #expect(fixture.server.requests.map(\.path) == ["/now"])
            pipeline.isUserInteracting = false
            #expect(await group.finish().failed == 0)
        }
    }

    @Test("L05 L22 a load has the priority that a processor or an interceptor sets", arguments: [true, false])
    func priority(byProcessor: Bool) async throws {
        let fixture = try InterceptorFixture { configuration in
            if byProcessor {
                configuration.requestProcessors = [lowered]
            } else {
                configuration.interceptors = [LoweringInterceptor()]
            }
        }
        let pipeline = fixture.pipeline
        pipeline.isUserInteracting = true
        let later = Task { try await pipeline.image(for: ImageRequest(fixture.server.url + "/later")) }
        try await eventually("number of loads", is: 1) { pipeline.statistics.loads }
        _ = try await pipeline.image(for: ImageRequest(fixture.server.url + "/now"))
        #expect(fixture.server.requests.map(\.path) == ["/now"])
        pipeline.isUserInteracting = false
        #expect(try await later.value.size.width == 8)
    }

    @Test("L20 an interceptor can respond itself, without a request")
    func answersItself() async throws {
        let image = try TestImage.image()
        let answer = ImageResponse(image, source: .memory, encodedBytes: [1, 2, 3])
        let fixture = try InterceptorFixture { $0.interceptors = [FunctionInterceptor { _, _ in answer }] }
        let response = try await fixture.pipeline.response(for: ImageRequest(fixture.server.url + "/a"))
        #expect(response.image.size == image.size && response.source == .memory && response.byteCount.bytes == 3)
        #expect(fixture.server.requests.isEmpty)
    }
}

@Sendable
private func lowered(_ request: ImageRequest) throws(EideticError) -> ImageRequest {
    request.name.hasSuffix("/later") ? request.with(priority: .low) : request
}

private struct LoweringInterceptor: ImageInterceptor {
    func intercept(
        _ request: ImageRequest,
        next: @Sendable (ImageRequest) async throws(EideticError) -> ImageResponse
    ) async throws(EideticError) -> ImageResponse {
        try await next(try lowered(request))
    }
}

/// An interceptor that adds a credential to each request, and refuses some.
private struct SigningInterceptor: ImageInterceptor {
    func intercept(
        _ request: ImageRequest,
        next: @Sendable (ImageRequest) async throws(EideticError) -> ImageResponse
    ) async throws(EideticError) -> ImageResponse {
        guard var remote = request.resource.remote, !remote.url.hasSuffix("/forbidden") else {
            throw EideticError(.refused, message: "not there")
        }
        remote.headers = ["Authorization": "Bearer 42"]
        return try await next(ImageRequest(.remote(remote), priority: .high, options: request.options))
    }
}
