import Eidetic
import EideticTestSupport
import EideticViews
import Glibc
import Testing

/// The shared pipeline, in a process of its own for each test, because it is shared by all of one process.
@Suite("Shared pipeline", .timeLimit(.minutes(2)))
struct SharedPipelineTests {
    @Test("L28 the shared pipeline can be replaced before and after its first use, and the shared cache follows")
    func replaced() async {
        await #expect(processExitsWith: .success) {
            let first = ImagePipeline(.init()), second = ImagePipeline(.init())
            ImagePipeline.shared = first
            #expect(ImagePipeline.shared === first)
            #expect(ImageCache.shared === first.cache)
            ImagePipeline.shared = second
            #expect(ImagePipeline.shared === second)
            #expect(ImageCache.shared === second.cache)
        }
    }

    @Test("L28 a pipeline that was replaced is released")
    func released() async {
        await #expect(processExitsWith: .success) {
            weak var earlier: ImagePipeline?
            do {
                let pipeline = ImagePipeline(.init())
                (earlier, ImagePipeline.shared) = (pipeline, pipeline)
            }
            #expect(earlier != nil)
            ImagePipeline.shared = ImagePipeline(.init())
            #expect(earlier == nil)
        }
    }

    @Test("L28 slots and prefetchers without a pipeline of their own load with the shared one of the moment")
    func defaultsFollow() async {
        await #expect(processExitsWith: .success) { @MainActor in
            let display = NoDisplay(), slot = ImageSlot(display: display), prefetcher = ImagePrefetcher()
            for _ in 0..<2 {
                let pipeline = ImagePipeline(.init())
                ImagePipeline.shared = pipeline
                let request = ImageRequest(.bytes(try TestImage.png(width: 4, height: 3)))
                let source = try await withCheckedThrowingContinuation { continuation in
                    slot.load(request) { continuation.resume(with: $0.map(\.source)) }
                }
                #expect(source != .memory)
                let other = ImageRequest(.bytes(try TestImage.png(width: 5, height: 3)))
                #expect(await prefetcher.prefetch([other]).finish().failed == 0)
                #expect(pipeline.cachedImage(for: request) != nil)
                #expect(pipeline.cachedImage(for: other) != nil)
            }
        }
    }

    @Test("L28 replacing the shared pipeline while many threads use it: each gets one of those that were set")
    func races() async {
        await #expect(processExitsWith: .success) {
            let pipelines = (0..<4).map { _ in ImagePipeline(.init()) }
            ImagePipeline.shared = pipelines[0]
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<4 {
                    group.addTask { for _ in 0..<10_000 { ImagePipeline.shared = pipelines[index] } }
                    group.addTask {
                        for _ in 0..<10_000 where !pipelines.contains(where: { $0 === ImagePipeline.shared }) {
                            Issue.record("an unknown pipeline")
                        }
                    }
                }
            }
        }
    }

    @Test("L28 threads that use the shared pipeline first at the same time get the same one")
    func firstUse() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory(named: "shared")
            setenv("XDG_CACHE_HOME", directory.path, 1)
            let identities = await withTaskGroup(of: ObjectIdentifier.self) { group in
                for _ in 0..<64 { group.addTask { ObjectIdentifier(ImagePipeline.shared) } }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(identities.count == 1)
        }
    }

    @Test("L28 a pipeline is made by a function that changes the standard configuration, whose error it throws")
    func configured() throws {
        struct Refusal: Error {}
        let pipeline = ImagePipeline {
            $0.diskCache = nil
            $0.memoryLimit = .mebibytes(3)
            $0.downloads.headers["X-Application"] = "Photos"
        }
        #expect(pipeline.configuration.memoryLimit == .mebibytes(3))
        #expect(pipeline.configuration.downloader.configuration.headers["X-Application"] == "Photos")
        #expect(pipeline.configuration.downloader === pipeline.configuration.downloader)
        #expect(throws: Refusal.self) { try ImagePipeline { _ throws(Refusal) in throw Refusal() } }
    }
}

@MainActor
private final class NoDisplay: ImageDisplay {
    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
        completion()
    }

    func displayIndicator(_ indicator: ImageIndicator?) {}
}
