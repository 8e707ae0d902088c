import Eidetic
import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// A transform that inverts colours after a given processor time.
private struct SlowInversion: ImageTransform {
    let key = "inversion"
    var duration = Duration.zero

    func apply(to pixels: PixelBuffer) throws(EideticError) -> PixelBuffer {
        let start = clock()
        while clock() - start < Int(duration.inSeconds * Double(CLOCKS_PER_SEC)) {}
        return try PixelBuffer(size: pixels.size, alpha: pixels.alpha) { target, _ in
            pixels.withUnsafeBytes { source in
                for index in source.indices { target[index] = index % 4 == 3 ? 255 : 255 - source[index] }
            }
        }
    }
}

@Suite("Derived images on disk", .timeLimit(.minutes(2)), .needsNginx)
struct DerivedImageTests {
    private let size = PixelSize(width: 100, height: 100)

    /// Returns a pipeline over the fixture's directory, as the next run of a program creates it.
    private func nextRun(
        _ fixture: PipelineFixture,
        policy: ImagePipeline.Configuration.DerivedImages.Policy = .both,
        isExact: Bool = true
    ) throws -> ImagePipeline {
        try fixture.nextRun { $0.derivedImages = .init(policy: policy, isExact: isExact) }
    }

    /// Loads an image in a run of its own, and waits until everything is on disk.
    private func isDerived(_ response: ImageResponse) -> Bool {
        response.trace.steps.contains { $0.stage == .disk && $0.detail.hasPrefix("derived") }
    }

    private func bytes(of image: Image) -> [UInt8] { image.pixels.withUnsafeBytes { Array($0) } }

    @Test("C23 a size is decoded from the original in the first run, and read in the second, pixel for pixel")
    func size() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(width: 400, height: 300, size: size)
        let first = try await load(request, by: try nextRun(fixture)), pipeline = try nextRun(fixture)
        let second = try await load(request, by: pipeline)
        #expect((isDerived(first), isDerived(second)) == (false, true))
        #expect(bytes(of: second.image) == bytes(of: first.image))
        #expect(second.source == .disk && second.byteCount == first.byteCount)
        #expect(second.image.sourceSize == PixelSize(width: 400, height: 300) && second.image.format == .png)
        #expect(pipeline.statistics.derivedHits == 1 && pipeline.statistics.diskHits == 1)
        #expect(pipeline.statistics.prometheusText.contains("eidetic_derived_hits_total 1\n"))
        #expect(pipeline.cachedImage(for: request) != nil)
        #expect(try await fixture.server.requests().count == 1)
    }

    @Test("C23 L13 a transformed image is read in the second run, and the transform is not called")
    func transform() async throws {
        let fixture = try await PipelineFixture(), count = Counter()
        let request = try fixture.serve(width: 200, height: 100).with(
            rendering: .init(transform: TransformChain([CountingTransform(count: count), SlowInversion()]))
        )
        let first = try await load(request, by: try nextRun(fixture))
        let second = try await load(request, by: try nextRun(fixture))
        #expect(isDerived(second) && bytes(of: second.image) == bytes(of: first.image))
        #expect(count.value == 1)
    }

    @Test("C23 images are kept by policy: automatically only if reading them is four times faster than making them")
    func policies() async throws {
        let fixture = try await PipelineFixture()
        let plain = try fixture.serve(width: 90, height: 90)
        let cheap = plain.with(rendering: .init(transform: CountingTransform(count: Counter())))
        let costly = plain.with(rendering: .init(transform: SlowInversion(duration: .milliseconds(300))))
        for (request, policy, isKept) in [
            (cheap, .automatic, false), (costly, .originals, false), (costly, .automatic, true),
        ] as [(ImageRequest, ImagePipeline.Configuration.DerivedImages.Policy, Bool)] {
            _ = try await load(request, by: try nextRun(fixture, policy: policy))
            let second = try await load(request, by: try nextRun(fixture, policy: policy))
            #expect(isDerived(second) == isKept)
        }
        #expect(ImagePipeline.Configuration().derivedImages == .init(policy: .automatic, isExact: false))
    }

    @Test("C23 with automatic, an image that was made from one that entered memory meanwhile is not kept")
    func fromMemory() async throws {
        let fixture = try await PipelineFixture(), (started, proceed) = (Gate(), Gate())
        let png = try TestImage.png(width: 90, height: 90)
        let response = ScriptedOrigin.Step.response(headers: ["Cache-Control": "max-age=600"], body: png)
        let server = try ScriptedOrigin { _ in [.open(started), .wait(proceed), response] }
        let plain = ImageRequest("\(server.url)/a.png")
        let request = plain.with(rendering: .init(transform: SlowInversion(duration: .milliseconds(300))))
        let pipeline = try nextRun(fixture, policy: .automatic)
        let loading = Task { try await load(request, by: pipeline) }
        await started.wait()
        let size = PixelSize(width: 90, height: 90), pixels = try TestImage.pixels(width: 90, height: 90)
        let image = Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: size)
        try pipeline.cache.blocking.insert(image, bytes: png, for: ImageCache.Key(plain.name), in: .memory)
        proceed.open()
        let stages = try await loading.value.trace.steps.map(\.stage)
        #expect(stages.contains(.transform) && !stages.contains(.decode))
        #expect(!isDerived(try await load(request, by: try nextRun(fixture, policy: .automatic))))
    }

    @Test("C23 the time of a library on threads of its own counts as time of making the image")
    func detachedDecode() async throws {
        let fixture = try await PipelineFixture()
        let url = try fixture.server.addFile(TestImage.tiff(width: 3_000, height: 2_400), at: "a.tiff")
        let request = ImageRequest(url, size: PixelSize(width: 400, height: 400))
        _ = try await load(request, by: try nextRun(fixture, policy: .automatic, isExact: false))
        #expect(isDerived(try await load(request, by: try nextRun(fixture, policy: .automatic, isExact: false))))
    }

    @Test("C23 a replaced original takes its derived images with it, in all processes")
    func replaced() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(width: 400, height: 300, size: size)
        _ = try await load(request, by: try nextRun(fixture))
        try fixture.server.addFile(try TestImage.png(width: 300, height: 600), at: "a.png")
        let other = ImageRequest(request.name, size: PixelSize(width: 20, height: 20), options: .refreshCached)
        _ = try await load(other, by: try nextRun(fixture))
        let second = try await load(request, by: try nextRun(fixture))
        #expect(second.image.size == PixelSize(width: 50, height: 100) && !isDerived(second))
        #expect(isDerived(try await load(request, by: try nextRun(fixture))))
    }

    @Test("C23 a removed original takes its derived images with it")
    func removed() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(width: 400, height: 300, size: size)
        let pipeline = try nextRun(fixture)
        _ = try await load(request, by: pipeline)
        try await pipeline.cache.remove(.init(ImageRequest(request.name)))
        let offline = request.with(options: [], cachePolicy: .cachedOnly)
        await #expect { try await nextRun(fixture).response(for: offline) } throws: {
            ($0 as? EideticError)?.code == .cacheMiss
        }
        #expect(try await nextRun(fixture).cache.image(for: .init(request)) == nil)
    }

    @Test("C23 nothing is derived of what must not be stored")
    func unstorable() async throws {
        let header = #"add_header Cache-Control "no-store";"#
        let fixture = try await PipelineFixture(.init(server: header))
        let request = try fixture.serve(width: 400, height: 300, size: size)
        let pipeline = try nextRun(fixture)
        _ = try await load(request, by: pipeline)
        #expect(try await pipeline.cache.diskUsage.entryCount == 0)
    }

    @Test("C23 deferred images, first frames at full size and local files are not stored a second time")
    func underivable() async throws {
        let fixture = try await PipelineFixture()
        let path = try fixture.directory.write(try TestImage.png(width: 400, height: 300), to: "local.png")
        let full = try fixture.serve(width: 400, height: 300), pipeline = try nextRun(fixture)
        for request in [
            full, ImageRequest(full.name, size: size, options: .avoidDecode),
            ImageRequest("file://\(path)", size: size),
            ImageRequest(full.name, size: PixelSize(width: 500, height: 500)),
        ] {
            _ = try await load(request, by: pipeline)
        }
        #expect(try await pipeline.cache.diskUsage.entryCount == 1)
    }

    @Test("C23 L27 the cache finds the images that a pipeline derived, and a load those that a program stored")
    func cache() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(width: 400, height: 300, size: size)
        let made = try await load(request, by: try nextRun(fixture)).image, cache = try nextRun(fixture).cache
        let found = try #require(try await cache.lookup(.init(request)))
        #expect(found.metadata?.headers.isEmpty == true && found.image.map(bytes(of:)) == bytes(of: made))
        #expect(try nextRun(fixture).cache.blocking.image(for: .init(request)).map(bytes(of:)) == bytes(of: made))
        let own = ImageRequest("\(fixture.server.url)/absent.png", size: PixelSize(width: 8, height: 8))
        let pixels = try TestImage.pixels(width: 8, height: 6)
        let image = Image(frames: [.init(pixels: pixels)], format: .png, sourceSize: PixelSize(width: 80, height: 60))
        try await nextRun(fixture).cache.insert(image, for: .init(own))
        let response = try await load(own, by: try nextRun(fixture))
        #expect(isDerived(response) && bytes(of: response.image) == bytes(of: image))
    }

    @Test("C23 L14 a prefetched size is read from disk by the next run")
    func prefetch() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(width: 400, height: 300, size: size)
        let pipeline = try nextRun(fixture)
        _ = await ImagePrefetcher(pipeline: pipeline).prefetch([request]).finish()
        try await eventually("the pipeline is idle") { pipeline.isIdle }
        #expect(isDerived(try await load(request, by: try nextRun(fixture))))
    }

    @Test("C23 a derived image that is damaged is made again from the original")
    func damaged() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(width: 400, height: 300, size: size)
        _ = try await load(request, by: try nextRun(fixture))
        let disk = try #require(try nextRun(fixture).configuration.diskCache)
        let key = "\(request.name)\n100x100 fit 0 true "
        let entry = try #require(try await disk.read(key))
        var metadata = entry.metadata
        metadata.storageTime = Timestamp(nanoseconds: 0)
        try await disk.insert(Array(entry.bytes.prefix(entry.bytes.count / 2)), for: key, metadata: metadata)
        let response = try await load(request, by: try nextRun(fixture))
        #expect(!isDerived(response) && response.image.size == PixelSize(width: 100, height: 75))
        #expect(isDerived(try await load(request, by: try nextRun(fixture))))
    }
}
