import Eidetic
import EideticCore
import EideticTestSupport
import Testing

/// One stage decodes for a pipeline and its caches.
@Suite("Decode stage", .timeLimit(.minutes(2)))
struct DecodeStageTests {
    /// A pipeline that decodes one image at a time, and an image on its disk.
    private struct Fixture {
        let directory: TemporaryDirectory
        let pipeline: ImagePipeline
        let bytes: [UInt8]

        init() async throws {
            directory = try TemporaryDirectory(named: "stage")
            var configuration = ImagePipeline.Configuration(
                diskCache: try DiskCache(.init(directory: directory.path(of: "cache")))
            )
            configuration.maximumConcurrentDecodes = 1
            configuration.decodePolicy = .inProcess
            pipeline = ImagePipeline(configuration)
            bytes = try TestImage.png(width: 8, height: 6)
            try await pipeline.cache.insert(bytes: bytes, for: "a")
        }

        /// Starts a load that keeps the only decoding thread busy until `proceed` is opened.
        func occupy(until proceed: Gate) async -> Task<Image, any Error> {
            let started = Gate()
            let request = ImageRequest(
                .bytes(bytes),
                rendering: .init(transform: BlockingTransform(started: started, proceed: proceed))
            )
            let load = Task { [pipeline] in try await pipeline.image(for: request) }
            await started.wait()
            return load
        }
    }

    @Test("L12 C07 a cache of a pipeline decodes and transforms on the threads of the pipeline, within their limit")
    func shared() async throws {
        let fixture = try await Fixture(), proceed = Gate(), recorder = ThreadRecorder()
        let load = await fixture.occupy(until: proceed)
        let key = ImageCache.Key("a", rendering: .init(transform: recorder))
        let cache = fixture.pipeline.makeCache(configuration: .init())
        let lookup = Task { try await cache.image(for: key) }
        try await eventually("number of look-ups", is: 1) { cache.lookups.activeJobCount }
        #expect(recorder.names.withLock { $0 }.isEmpty)
        proceed.open()
        #expect(try await lookup.value != nil)
        #expect(recorder.names.withLock { $0 } == ["eidetic decode"])
        _ = try await load.value
    }

    @Test("L12 C07 look-ups that decode nothing do not wait behind a decode")
    func queries() async throws {
        let fixture = try await Fixture(), proceed = Gate(), cache = fixture.pipeline.cache
        let load = await fixture.occupy(until: proceed)
        #expect(try await cache.contains("a"))
        #expect(try await cache.tiers(containing: "a") == .disk)
        #expect(try await !cache.contains("b"))
        #expect(try await cache.bytes(for: "a") == fixture.bytes)
        #expect(try await cache.metadata(for: "a") != nil)
        proceed.open()
        _ = try await load.value
    }
}
