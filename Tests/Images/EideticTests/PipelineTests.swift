import Eidetic
import EideticCore
import EideticTestSupport
import Testing

@Suite("Pipeline", .timeLimit(.minutes(2)), .enabled(if: Nginx.isInstalled, "nginx is not installed"))
struct PipelineTests {
    @Test("L09 the first response is from the network, the next from memory, and the next run's from disk")
    func sources() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(cachePolicy: .afterStorage)
        let first = try await fixture.pipeline.response(for: request)
        #expect(first.source == .network)
        #expect(first.storeError == nil)
        // The look-up after the write to disk is not counted as a hit.
        #expect(fixture.pipeline.cache.memory.images.statistics.hits == 0)
        #expect(first.image.size == PixelSize(width: 64, height: 48))
        #expect(first.image.pixels[63, 47] == SIMD4(63, 47, 7, 255))
        #expect(try await fixture.pipeline.response(for: request).source == .memory)
        let second = try await fixture.nextRun().response(for: request)
        #expect(second.source == .disk)
        #expect(second.image.pixels[63, 47] == SIMD4(63, 47, 7, 255))
        #expect(try await fixture.server.requestCount(for: "/a.png") == 1)
    }

    @Test("L02 one hundred callers of one URL: one request, one hundred images")
    func oneHundredCallers() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(), pipeline = fixture.pipeline
        let sizes = try await withThrowingTaskGroup(of: PixelSize.self) { group in
            for _ in 0..<100 { group.addTask { try await pipeline.image(for: request).size } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(sizes == Array(repeating: PixelSize(width: 64, height: 48), count: 100))
        #expect(try await fixture.server.requestCount(for: "/a.png") == 1)
    }

    @Test("L02 one URL in ten sizes at once: one request, ten right sizes")
    func tenSizes() async throws {
        let fixture = try await PipelineFixture()
        let original = try fixture.serve(width: 640, height: 480), pipeline = fixture.pipeline
        let widths = try await withThrowingTaskGroup(of: Int.self) { group in
            for width in 1...10 {
                let size = PixelSize(width: width * 10, height: 1_000)
                let request = original.with(rendering: .init(size: size))
                group.addTask { try await pipeline.image(for: request).size.width }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(widths.sorted() == (1...10).map { $0 * 10 })
        #expect(try await fixture.server.requestCount(for: "/a.png") == 1)
    }

    @Test("C02 a smaller size is made from a larger image in memory, without disk or network")
    func largerDecode() async throws {
        let fixture = try await PipelineFixture()
        let full = try fixture.serve(width: 640, height: 480), pipeline = fixture.pipeline
        _ = try await pipeline.image(for: full)
        let disk = try DiskCache(DiskCache.Configuration(directory: fixture.directory.path(of: "cache")))
        try disk.blocking.removeAll()
        let response = try await pipeline.response(for: full.with(rendering: .init(size: .init(width: 64, height: 64))))
        #expect(response.source == .memory)
        #expect(response.image.size == PixelSize(width: 64, height: 48))
        #expect(response.image.sourceSize == PixelSize(width: 640, height: 480))
        #expect(response.trace.steps.map(\.stage) == [.memory, .decode])
        #expect(try await fixture.server.requestCount(for: "/a.png") == 1)
    }

    @Test("C21 entering the background empties the memory cache")
    func background() async throws {
        let request = ImageRequest(.bytes(try TestImage.png(width: 4, height: 4)))
        let environment = PressureEnvironment()
        var configuration = ImagePipeline.Configuration()
        configuration.environment = environment
        let pipeline = ImagePipeline(configuration)
        _ = try await pipeline.image(for: request)
        // A look-up while the load still holds the image restores it, so it is repeated.
        try await eventually("the image leaves the memory") {
            environment.enterBackground()
            return pipeline.cachedImage(for: request) == nil
        }
    }

    @Test("L02 two users with different headers never share an image")
    func headersAreIdentity() async throws {
        let fixture = try await PipelineFixture()
        let url = try fixture.serve().name
        func makeRequest(for user: String) throws -> ImageRequest {
            var source = try FetchRequest(url: url)
            source.headers = ["Authorization": "Bearer \(user)"]
            return ImageRequest(.remote(source))
        }
        let one = try makeRequest(for: "one"), two = try makeRequest(for: "two")
        #expect(one != two)
        async let first = fixture.pipeline.response(for: one)
        async let second = fixture.pipeline.response(for: two)
        #expect(try await first.source == .network)
        #expect(try await second.source == .network)
        #expect(fixture.pipeline.cachedImage(for: one) != nil)
        #expect(fixture.pipeline.cachedImage(for: try makeRequest(for: "three")) == nil)
        #expect(try await fixture.server.requestCount(for: "/a.png") == 2)
    }

    @Test("L15 an image in memory is delivered synchronously")
    func synchronousHit() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve()
        #expect(fixture.pipeline.cachedImage(for: request) == nil)
        _ = try await fixture.pipeline.image(for: request)
        #expect(fixture.pipeline.cachedImage(for: request)?.size == PixelSize(width: 64, height: 48))
        fixture.pipeline.removeAllFromMemory()
        #expect(fixture.pipeline.cachedImage(for: request) == nil)
    }

    @Test("L21 events end with exactly one terminal event, after progress")
    func events() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(width: 300, height: 300)
        var terminal = 0, received = 0
        for await event in fixture.pipeline.task(for: request).events {
            switch event {
            case .progress(let progress): received = progress.received
            case .cached, .preview: Issue.record("neither a cached image nor a preview was requested")
            case .finished(let response):
                terminal += 1
                #expect(response.byteCount.bytes == received)
            case .failed(let error): Issue.record(error)
            }
        }
        #expect(terminal == 1)
    }

    @Test("L21 a task that is cancelled while it waits for events gets one terminal event: cancelled")
    func cancelledEvents() async throws {
        let fixture = try await PipelineFixture(.init(server: "limit_rate 1k;"))
        let request = try fixture.serve(width: 300, height: 300), pipeline = fixture.pipeline
        let task = Task {
            var codes: [EideticError.Code] = []
            for await event in pipeline.task(for: request).events {
                if case .failed(let error) = event { codes.append(error.code) }
                if case .progress = event { withUnsafeCurrentTask { $0?.cancel() } }
            }
            return codes
        }
        #expect(await task.value == [.cancelled])
        try await eventually("number of cancelled loads", is: 1) { pipeline.statistics.cancelled }
    }

    @Test("L06 cachedOnly never uses the network: a miss is cacheMiss")
    func fromCacheOnly() async throws {
        let fixture = try await PipelineFixture()
        let online = try fixture.serve(cachePolicy: .afterStorage)
        let offline = online.with(options: [], cachePolicy: .cachedOnly)
        let error = await #expect(throws: EideticError.self) { try await fixture.pipeline.image(for: offline) }
        #expect(error?.code == .cacheMiss)
        _ = try await fixture.pipeline.image(for: online)
        #expect(try await fixture.nextRun().response(for: offline).source == .disk)
        #expect(try await fixture.server.requestCount(for: "/a.png") == 1)
    }

    @Test("L06 reload ignores the caches, but stores")
    func fromLoaderOnly() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(cachePolicy: .reload.waiting)
        for _ in 0..<2 { #expect(try await fixture.pipeline.response(for: request).source == .network) }
        #expect(try await fixture.nextRun().response(for: request.with(cachePolicy: .standard)).source == .disk)
        #expect(try await fixture.server.requestCount(for: "/a.png") == 2)
    }

    @Test("L06 memoryOnly stores nothing on disk")
    func cacheMemoryOnly() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(cachePolicy: .memoryOnly.waiting)
        _ = try await fixture.pipeline.image(for: request)
        #expect(try await fixture.pipeline.response(for: request).source == .memory)
        #expect(try await fixture.nextRun().response(for: request).source == .network)
    }

    @Test("L06 scaleDownLargeImages limits the decoded bytes and is part of the identity")
    func scaleDown() async throws {
        let fixture = try await PipelineFixture()
        let full = try fixture.serve(width: 400, height: 300)
        var configuration = ImagePipeline.Configuration()
        #expect(configuration.scaleDownLimit == 60_000_000)
        #expect(ImageCache.Configuration().scaleDownLimit == 60_000_000)
        configuration.scaleDownLimit = ByteCount(200 * 150 * 4)
        let pipeline = ImagePipeline(configuration)
        let small = full.with(options: .scaleDownLargeImages)
        let image = try await pipeline.image(for: small)
        #expect(image.cost.bytes <= 200 * 150 * 4)
        #expect(image.sourceSize == PixelSize(width: 400, height: 300))
        #expect(try await pipeline.image(for: full).size == PixelSize(width: 400, height: 300))
    }

    @Test("C18 an entry on disk that cannot be decoded is removed, and loaded once from the network")
    func brokenEntry() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(cachePolicy: .afterStorage)
        let disk = try DiskCache(DiskCache.Configuration(directory: fixture.directory.path(of: "cache")))
        let good = try TestImage.png(width: 64, height: 48)
        try await disk.insert(Array(good.prefix(good.count / 2)), for: request.name)
        let response = try await fixture.pipeline.response(for: request)
        #expect(response.source == .network)
        #expect(try await fixture.nextRun().response(for: request).source == .disk)
        #expect(try await fixture.server.requestCount(for: "/a.png") == 1)
    }

    @Test("C02 memory pressure shrinks the memory cache")
    func memoryPressure() async throws {
        let environment = PressureEnvironment()
        var configuration = ImagePipeline.Configuration()
        configuration.environment = environment
        let pipeline = ImagePipeline(configuration)
        let fixture = try await PipelineFixture()
        let request = try fixture.serve()
        _ = try await pipeline.image(for: request)
        // A look-up while the load still holds the image restores it, so it is repeated.
        try await eventually("the image leaves the memory") {
            environment.send(.critical)
            return pipeline.cachedImage(for: request) == nil
        }
    }

    @Test("L26 statistics count every load once")
    func statistics() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve()
        _ = try await fixture.pipeline.image(for: request)
        _ = try await fixture.pipeline.image(for: request)
        _ = try? await fixture.pipeline.image(for: ImageRequest(fixture.server.url + "/missing.png"))
        let statistics = fixture.pipeline.statistics
        #expect(statistics.loads == 3)
        #expect(statistics.networkLoads == 1)
        #expect(statistics.memoryHits == 1)
        #expect(statistics.failures == 1)
    }
}

/// An environment whose memory pressure a test sets.
final class PressureEnvironment: ApplicationEnvironment {
    let memoryPressure: AsyncStream<MemoryPressure>
    private let continuation: AsyncStream<MemoryPressure>.Continuation

    let phases: AsyncStream<ApplicationPhase>
    private let phaseContinuation: AsyncStream<ApplicationPhase>.Continuation

    init() {
        (memoryPressure, continuation) = AsyncStream.makeStream()
        (phases, phaseContinuation) = AsyncStream.makeStream()
    }

    func send(_ level: MemoryPressure) { continuation.yield(level) }

    func enterBackground() { phaseContinuation.yield(.background) }

    func beginBackgroundTask(
        named name: String,
        expirationHandler: @escaping @Sendable () -> Void
    ) -> BackgroundTaskIdentifier { .invalid }

    func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) {}
}
