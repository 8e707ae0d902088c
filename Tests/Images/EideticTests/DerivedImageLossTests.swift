import Eidetic
import EideticCore
import EideticTestSupport
import EideticViews
import Glibc
import Testing

/// Loads derived images after kills, after a replacement of their original, and when space is short.
@Suite("Derived images: loss", .serialized, .timeLimit(.minutes(5)), .needsNginx)
struct DerivedImageLossTests {
    private static let sizes = (1...12).map { PixelSize(width: 8 * $0, height: 8 * $0) }

    /// Returns a pipeline over the directory of a cache that keeps every image.
    private static func makePipeline(
        in directory: String,
        observer: (any SystemCallObserver)? = nil,
        change: (inout DiskCache.Configuration) -> Void = { _ in }
    ) throws -> ImagePipeline {
        var settings = DiskCache.Configuration(directory: directory)
        change(&settings)
        let disk = try DiskCache(settings, fileSystem: FileSystem(observer: observer))
        var configuration = ImagePipeline.Configuration(diskCache: disk)
        configuration.derivedImages = .init(policy: .both)
        return ImagePipeline(configuration)
    }

    /// Loads a new version of an image, and all its sizes, until the process is killed before a system call.
    private static func loadUntilKilled(_ url: String, in directory: String, call: SystemCall, position: Int)
        async throws
    {
        let plan = FaultPlan()
        plan.before(call, at: position) { kill(getpid(), SIGKILL) }
        guard let pipeline = try? makePipeline(in: directory, observer: plan) else { return }
        _ = try? await pipeline.image(for: ImageRequest(url, options: .refreshCached, cachePolicy: .afterStorage))
        for size in sizes { _ = try? await pipeline.image(for: ImageRequest(url, size: size)) }
        try await eventually("the pipeline is idle") { pipeline.isIdle }
        kill(getpid(), SIGKILL)
    }

    @Test("C23 C18 after a kill at any system call the sizes on disk are intact, and all of one version")
    func kills() async throws {
        let server = try await Nginx(), directory = try TemporaryDirectory(named: "kills")
        let path = directory.path(of: "cache"), calls = [SystemCall.write, .rename, .pwrite, .unlink, .open]
        for round in 0..<Torture.repetitions(5, full: 300) {
            // The ratio of the sides tells the version.
            let url = try server.addFile(try TestImage.png(width: 200 + round, height: 100), at: "a.png")
            let call = calls[round % calls.count].rawValue, position = 1 + round * 7 % 40
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [url = url as String, path = path as String, call = call as String, position = position as Int] in
                guard let call = SystemCall(rawValue: call) else { return }
                try await DerivedImageLossTests.loadUntilKilled(url, in: path, call: call, position: position)
            }
            let pipeline = try Self.makePipeline(in: path)
            let disk = try #require(pipeline.configuration.diskCache)
            #expect(try disk.scan.verify().damaged.isEmpty, "round \(round)")
            #expect(try disk.blocking.entries().count == disk.blocking.usage.entryCount, "round \(round)")
            var versions: Set<Int> = []
            for size in Self.sizes {
                let request = ImageRequest(url, size: size, cachePolicy: .cachedOnly)
                do {
                    let image = try await pipeline.image(for: request)
                    versions.insert(image.sourceSize.width)
                    #expect(image.size == image.sourceSize.scaled(to: size, mode: .fit))
                } catch { #expect(error.code == .cacheMiss) }
            }
            #expect(versions.count <= 1 && versions.allSatisfy { (200...200 + round).contains($0) }, "round \(round)")
            let fresh = ImageRequest(url, size: Self.sizes[0], options: .refreshCached, cachePolicy: .afterStorage)
            #expect(try await pipeline.response(for: fresh).image.sourceSize.width == 200 + round)
            try await eventually("the pipeline is idle") { pipeline.isIdle }
        }
    }

    @Test("C23 L11 after a refresh no old size is in memory, on disk, in the cache, in a slot or for a prefetcher")
    @MainActor func replaced() async throws {
        let fixture = try await PipelineFixture(), path = fixture.directory.path(of: "cache")
        let url = try fixture.serve(width: 400, height: 300).name, pipeline = try Self.makePipeline(in: path)
        var requests = Self.sizes.map { ImageRequest(url, size: $0) }
        requests.append(
            ImageRequest(url).with(rendering: .init(transform: CountingTransform(count: Counter())))
        )
        for request in requests { _ = try await pipeline.image(for: request) }
        try await eventually("the pipeline is idle") { pipeline.isIdle }
        try fixture.server.addFile(try TestImage.png(width: 300, height: 600), at: "a.png")
        let changed = PixelSize(width: 300, height: 600)
        let other = ImageRequest(
            url,
            size: PixelSize(width: 5, height: 5),
            options: .refreshCached,
            cachePolicy: .afterStorage
        )
        #expect(try await pipeline.image(for: other).sourceSize == changed)
        try await eventually("the pipeline is idle") { pipeline.isIdle }
        for run in [pipeline, try Self.makePipeline(in: path)] {
            for request in requests {
                let cached = run.cachedImage(for: request)
                #expect(cached == nil || cached?.sourceSize == changed)
                let found = try await run.cache.lookup(.init(request))?.image
                #expect(found == nil || found?.sourceSize == changed)
                #expect(
                    try await run.image(for: request.with(options: [], cachePolicy: .cachedOnly)).sourceSize == changed
                )
            }
            run.removeAllFromMemory()
        }
        let last = try Self.makePipeline(in: path), display = RecordingDisplay()
        let slot = ImageSlot(display: display, pipeline: last, gate: DisplayGate())
        slot.load(requests[11], presentation: .init(usesCachedPreview: true))
        try await eventually("the slot has no task") { slot.task == nil }
        let sizes = display.images.compactMap { if case .image(let size, _) = $0 { size } else { nil } }
        #expect(!sizes.isEmpty && sizes.allSatisfy { $0 == changed.scaled(to: Self.sizes[11], mode: .fit) })
        #expect(await ImagePrefetcher(pipeline: last).prefetch(requests).finish().failed == 0)
        for request in requests { #expect(last.cachedImage(for: request)?.sourceSize == changed) }
    }

    @Test("C23 C10 beyond their share of the limit derived images are evicted before the first original")
    func budget() async throws {
        let fixture = try await PipelineFixture()
        let pipeline = try Self.makePipeline(in: fixture.directory.path(of: "cache")) {
            $0.sizeLimit = ByteCount(80 * 4_096)
        }
        let originals = try (0..<30).map { try fixture.serve("\($0).png", width: 24, height: 18) }
        for original in originals {
            _ = try await pipeline.image(for: original.with(cachePolicy: .afterStorage))
            for width in 1...8 {
                _ = try await pipeline.image(for: ImageRequest(original.name, size: PixelSize(width: width, height: 9)))
            }
            try await eventually("the pipeline is idle") { pipeline.isIdle }
        }
        func count(_ kind: EntryKind) throws -> Int {
            try pipeline.configuration.diskCache?.blocking.entries().count { $0.metadata.kind == kind } ?? 0
        }
        // As long as there is room, they have more than their share, a quarter of the limit.
        #expect(try count(.original) == 30 && (30...50).contains(count(.derived)))
        for number in 30..<55 {
            let request = try fixture.serve("\(number).png", width: 24, height: 18, cachePolicy: .afterStorage)
            _ = try await pipeline.image(for: request)
        }
        #expect(try count(.original) == 55 && (10...25).contains(count(.derived)))
    }
}
