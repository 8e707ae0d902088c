import Eidetic
import EideticCore
import EideticTestSupport
import EideticViews
import Testing

/// Processors, interceptors and hooks: each runs once a load, in this order:
/// request processors → interceptors, the first one outermost → request modifier → response modifier.
@Suite("Once a load", .timeLimit(.minutes(2)))
struct LoadOnceTests {
    /// The names of what was called, in order.
    private final class Calls: Sendable {
        private let names = Guarded<[String]>([])

        func add(_ name: String) { names.withLock { $0.append(name) } }

        /// Returns the calls since the last time.
        func removeAll() -> [String] {
            names.withLock { names in
                defer { names = [] }
                return names
            }
        }
    }

    private struct RecordingInterceptor: ImageInterceptor {
        let name: String
        let calls: Calls

        func intercept(
            _ request: ImageRequest,
            next: @Sendable (ImageRequest) async throws(EideticError) -> ImageResponse
        ) async throws(EideticError) -> ImageResponse {
            calls.add(name)
            return try await next(request)
        }
    }

    /// A pipeline with all kinds of hooks, over a server that tags its image and confirms the tag.
    private struct Fixture {
        let calls = Calls()
        let directory: TemporaryDirectory
        let server: ScriptedOrigin
        let configuration: ImagePipeline.Configuration
        let pipeline: ImagePipeline

        init(hasInterceptors: Bool = true, isVariant: Bool = false) throws {
            let calls = calls, png = try TestImage.png(width: 8, height: 6)
            server = try ScriptedOrigin { request in
                let isConfirmed = request.headers["if-none-match"] == "\"1\""
                let variant: KeyValuePairs = ["ETag": "\"1\"", "Vary": "Accept-Language", "Cache-Control": "max-age=0"]
                let fields = isVariant ? variant : ["ETag": "\"1\""]
                return [.response(isConfirmed ? 304 : 200, headers: fields, body: isConfirmed ? [] : png)]
            }
            var downloads = ImagePipeline.Configuration().downloads
            downloads.requestModifier = { request in
                calls.add("modifier")
                return request
            }
            downloads.responseModifier = { response in
                calls.add("response")
                return response
            }
            directory = try TemporaryDirectory(named: "once")
            var configuration = ImagePipeline.Configuration(
                diskCache: try DiskCache(.init(directory: directory.path(of: "cache"))),
                downloader: Downloader(downloads)
            )
            if isVariant { configuration.freshness = .http }
            configuration.requestProcessors = ["processor 1", "processor 2"].map { name in
                { request in
                    calls.add(name)
                    return request
                }
            }
            if hasInterceptors {
                configuration.interceptors = ["outer", "inner"].map { RecordingInterceptor(name: $0, calls: calls) }
            }
            self.configuration = configuration
            pipeline = ImagePipeline(configuration)
        }

        func request(
            _ path: String = "/a.png",
            options: ImageOptions = [],
            cachePolicy: ImageRequest.CachePolicy = .standard
        ) -> ImageRequest {
            ImageRequest(server.url + path, options: options, cachePolicy: cachePolicy)
        }

        /// Loads an image and its bytes to disk, and forgets the calls.
        func fillCaches(_ options: ImageOptions = []) async throws {
            _ = try await pipeline.image(for: request(options: options, cachePolicy: .afterStorage))
            _ = calls.removeAll()
        }
    }

    private let processors = ["processor 1", "processor 2"]
    private let all = ["processor 1", "processor 2", "outer", "inner"]

    @Test("L27 L20 a cold load calls each processor, interceptor and hook once, in the documented order")
    func cold() async throws {
        let fixture = try Fixture()
        _ = try await fixture.pipeline.image(for: fixture.request())
        #expect(fixture.calls.removeAll() == all + ["modifier", "response"])
    }

    @Test("L27 L20 an awaited hit in memory calls each processor and interceptor once, and no hook")
    func awaitedMemoryHit() async throws {
        for hasInterceptors in [true, false] {
            let fixture = try Fixture(hasInterceptors: hasInterceptors)
            try await fixture.fillCaches()
            #expect(try await fixture.pipeline.response(for: fixture.request()).source == .memory)
            #expect(fixture.calls.removeAll() == (hasInterceptors ? all : processors))
            _ = try await fixture.pipeline.image(for: fixture.request())
            #expect(fixture.calls.removeAll() == (hasInterceptors ? all : processors))
        }
    }

    @MainActor
    @Test("L27 L20 a load with a completion calls each processor and interceptor once, with a hit in memory or without")
    func completion() async throws {
        for hasInterceptors in [true, false] {
            let fixture = try Fixture(hasInterceptors: hasInterceptors)
            for isHit in [false, true] {
                let source = await withCheckedContinuation { continuation in
                    fixture.pipeline.load(fixture.request()) { result in
                        continuation.resume(returning: try? result.get().source)
                    }
                }
                #expect(source == (isHit ? .memory : .network))
                let expected = (hasInterceptors ? all : processors) + (isHit ? [] : ["modifier", "response"])
                #expect(fixture.calls.removeAll() == expected)
            }
        }
    }

    @MainActor
    @Test("L27 L20 a load of a slot calls each processor once, with a hit in memory or without")
    func slot() async throws {
        let fixture = try Fixture(hasInterceptors: false), display = SilentDisplay()
        for isHit in [false, true] {
            let slot = ImageSlot(display: display, pipeline: fixture.pipeline)
            let request = fixture.request()
            let presentation = ImageSlot.Presentation()
            await withCheckedContinuation { continuation in
                slot.load(request, presentation: presentation) { _ in continuation.resume() }
            }
            #expect(fixture.calls.removeAll() == processors + (isHit ? [] : ["modifier", "response"]))
        }
    }

    @Test("L27 L20 a hit on disk calls each processor and interceptor once, and no hook")
    func diskHit() async throws {
        let fixture = try Fixture()
        try await fixture.fillCaches()
        fixture.pipeline.removeAllFromMemory()
        #expect(try await fixture.pipeline.response(for: fixture.request()).source == .disk)
        #expect(fixture.calls.removeAll() == all)
    }

    @Test("L27 L20 a revalidation calls each processor, interceptor and hook once", arguments: [true, false])
    func revalidation(hasImageInMemory: Bool) async throws {
        let fixture = try Fixture()
        try await fixture.fillCaches()
        if !hasImageInMemory { fixture.pipeline.removeAllFromMemory() }
        let response = try await fixture.pipeline.response(for: fixture.request(options: .refreshCached))
        #expect({ if case .unchanged = response.revalidation { true } else { false } }())
        #expect(fixture.calls.removeAll().filter { $0 != "response" } == all + ["modifier"])
    }

    @Test("L27 L20 a variant that a field selects is searched and loaded with one call of the modifier")
    func variants() async throws {
        let fixture = try Fixture(isVariant: true)
        try await fixture.fillCaches()
        fixture.pipeline.removeAllFromMemory()
        _ = try await fixture.pipeline.image(for: fixture.request())
        #expect(fixture.calls.removeAll().filter { $0 != "response" } == all + ["modifier"])
    }

    @Test("L27 L20 L19 a prefetch calls each processor, interceptor and hook once", arguments: [true, false])
    func prefetch(toDisk: Bool) async throws {
        let fixture = try Fixture()
        let destination = toDisk ? ImagePrefetcher.Destination.disk : .memory
        let prefetcher = ImagePrefetcher(pipeline: fixture.pipeline, destination: destination)
        #expect(await prefetcher.prefetch([fixture.request()]).finish().failed == 0)
        #expect(fixture.calls.removeAll() == all + ["modifier", "response"])
    }
}

@MainActor
private final class SilentDisplay: ImageDisplay {
    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
        completion()
    }

    func displayIndicator(_ indicator: ImageIndicator?) {}
}
