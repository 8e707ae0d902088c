import Eidetic
import EideticCodecs
import EideticCore
import EideticTestSupport
import EideticViews
import Testing

@Suite("Deferred decoding", .timeLimit(.minutes(2)))
struct DeferredDecodingTests {
    /// A request for provided bytes, which are stored on disk; `calls` counts how often they were provided.
    private func makeRequest(
        for bytes: [UInt8],
        options: ImageOptions,
        cachePolicy: ImageRequest.CachePolicy = .standard,
        calls: Counter = Counter()
    ) -> ImageRequest {
        let origin = ImageRequest.Resource.provider(name: "made") { () throws(EideticError) in
            calls.increment()
            return bytes
        }
        return ImageRequest(origin, options: options, cachePolicy: cachePolicy)
    }

    private func makePipeline(in directory: TemporaryDirectory) throws -> ImagePipeline {
        ImagePipeline(.init(diskCache: try DiskCache(.init(directory: directory.path(of: "cache")))))
    }

    @Test("L06 avoidDecode delivers the bytes and the header; the first use decodes once, for the holder of the image")
    func firstUse() async throws {
        let pipeline = ImagePipeline(.init()), png = try TestImage.png(width: 64, height: 48)
        let request = makeRequest(for: png, options: .avoidDecode)
        let response = try await pipeline.response(for: request)
        #expect(response.encodedBytes == png)
        #expect(response.header?.size == PixelSize(width: 64, height: 48))
        #expect(response.image.size == PixelSize(width: 64, height: 48))
        #expect(!response.image.isDecoded)
        #expect(pipeline.cachedImage(for: request) == nil)
        #expect(pipeline.memoryUsage == .zero)
        #expect(response.trace.steps.last?.detail == "left until it is used: png 64x48 to 64x48")
        #expect(response.image.pixels[3, 2] == SIMD4(3, 2, 7, 255))
        #expect(response.image.isDecoded)
        #expect(try await response.image.decoded().pixels === response.image.pixels)
        // Only loads that decode fill memory.
        #expect(pipeline.memoryUsage == .zero)
        let late = try await pipeline.image(for: request)
        let plain = try await pipeline.image(for: request.with(options: []))
        let hit = try await pipeline.response(for: request)
        #expect(hit.source == .memory && hit.image.isDecoded && hit.header == nil)
        // The image in memory has the same bytes, so they are not decoded again.
        #expect(late.pixels === plain.pixels)
    }

    @Test("L02 equal loads at once with avoidDecode have one image, which is decoded once for all of them")
    func shared() async throws {
        let png = try TestImage.png(width: 64, height: 48), gate = Gate()
        let server = try ScriptedOrigin { _ in [.wait(gate), .response(200, body: png)] }
        let pipeline = ImagePipeline(.init()), request = ImageRequest(server.url + "/a.png", options: .avoidDecode)
        let tasks = (0..<10).map { _ in Task { try await pipeline.response(for: request).image } }
        try await eventually("nine loads have joined the first one") { pipeline.statistics.joined >= 9 }
        gate.open()
        var pixels: Set<ObjectIdentifier> = []
        for task in tasks { pixels.insert(ObjectIdentifier(try await task.value.pixels)) }
        #expect(pixels.count == 1)
    }

    @Test("L06 C01 avoidDecode: the cost of an unused image is that of its pixels and its bytes")
    func cost() async throws {
        let png = try TestImage.png(width: 64, height: 48)
        let image = try await ImagePipeline(.init()).image(for: makeRequest(for: png, options: .avoidDecode))
        #expect(image.cost == ByteCount(64 * 48 * 4 + png.count))
        let memory = ImageMemoryCache(costLimit: image.cost)
        memory.insert(image, for: CacheKey("made"))
        #expect(memory.images.totalCost == image.cost)
        memory.enterBackground(behavior: .removeAll)
        #expect(!image.isDecoded)
    }

    @Test("L06 avoidDecode: many concurrent uses of one image decode it once", arguments: [false, true])
    func manyUsers(synchronously: Bool) async throws {
        let pipeline = ImagePipeline(.init())
        let image = try await pipeline.image(
            for: makeRequest(for: try TestImage.png(width: 300, height: 300), options: .avoidDecode)
        )
        let found = try await withThrowingTaskGroup(of: ObjectIdentifier.self) { group in
            for index in 0..<50 {
                group.addTask {
                    let isHere = synchronously || index.isMultiple(of: 2)
                    return ObjectIdentifier(isHere ? image.pixels : try await image.decoded().pixels)
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(found.count == 1)
    }

    @Test("L06 L02 avoidDecode: a load that joins without the option gets a decoded image, from one download")
    func coalesced() async throws {
        let gate = Gate(), png = try TestImage.png(width: 64, height: 48), pipeline = ImagePipeline(.init())
        let server = try ScriptedOrigin { _ in [.wait(gate), .response(200, headers: [:], body: png)] }
        let request = ImageRequest(server.url + "/a", options: .avoidDecode)
        let late = Task { try await pipeline.response(for: request) }
        let plain = Task { try await pipeline.response(for: request.with(options: [])) }
        try await eventually("number of joined loads", is: 1) { pipeline.statistics.joined }
        gate.open()
        let decoded = try await plain.value
        #expect(decoded.image.isDecoded && decoded.header == nil)
        // Both responses share the decoded pixels.
        #expect(try await late.value.image.decoded().pixels === decoded.image.pixels)
        #expect(server.requests.count == 1)
    }

    @Test(
        "L06 L02 avoidDecode: decoding on use is shared with concurrent loads, and its caller may cancel it"
    )
    func sharedDecode() async throws {
        var configuration = ImagePipeline.Configuration()
        configuration.maximumConcurrentDecodes = 1
        let pipeline = ImagePipeline(configuration), started = Gate(), proceed = Gate()
        let lazy = makeRequest(for: try TestImage.png(width: 64, height: 48), options: .avoidDecode)
        let image = try await pipeline.image(for: lazy)
        // The only decoding thread is blocked.
        let blockingRendering = ImageRequest.Rendering(transform: BlockingTransform(started: started, proceed: proceed))
        let blocking = ImageRequest(.bytes(try TestImage.png(width: 2, height: 2)), rendering: blockingRendering)
        let blockingTask = Task { try await pipeline.image(for: blocking) }
        await started.wait()
        let joined = pipeline.statistics.joined
        let cancelled = Task { try await image.decoded() }
        cancelled.cancel()
        let error = await #expect(throws: EideticError.self) { try await cancelled.value }
        #expect(error?.code == .cancelled)
        let first = Task { try await image.decoded() }
        let second = Task { try await pipeline.image(for: lazy.with(options: [])) }
        try await eventually("number of joined loads", is: joined + 1) { pipeline.statistics.joined }
        proceed.open()
        _ = try await blockingTask.value
        #expect(try await first.value.pixels === second.value.pixels)
        #expect(image.isDecoded)
    }

    @Test(
        "L06 F07 avoidDecode: a broken image throws at each use, is transparent, and is loaded again by the next load"
    )
    func broken() async throws {
        let directory = try TemporaryDirectory(named: "lazy"), calls = Counter()
        let png = try TestImage.png(width: 64, height: 48), pipeline = try makePipeline(in: directory)
        let request = makeRequest(
            for: Array(png.prefix(png.count / 2)),
            options: .avoidDecode,
            cachePolicy: .afterStorage,
            calls: calls
        )
        let image = try await pipeline.image(for: request)
        #expect(image.size == PixelSize(width: 64, height: 48))
        for _ in 0..<2 {
            let error = await #expect(throws: EideticError.self) { try await image.decoded() }
            #expect(error?.code == .truncated)
        }
        #expect(throws: EideticError.self) { try image.decodedSynchronously() }
        #expect(throws: EideticError.self) { try ImageEncoder.encode(image, as: .png) }
        #expect(image.pixels.size == image.size)
        #expect(image.pixels.withUnsafeBytes { $0.allSatisfy { $0 == 0 } })
        #expect(pipeline.memoryUsage == .zero)
        #expect(!image.isDecoded)
        await #expect(throws: EideticError.self) { try await pipeline.image(for: request.with(options: [])) }
        #expect(calls.value == 2)
    }

    @Test("L06 F07 avoidDecode: a header above the limits, and bytes without a header, are refused at once")
    func refused() async throws {
        var configuration = ImagePipeline.Configuration()
        configuration.decodeLimits.pixels = 64 * 48 - 1
        let large = makeRequest(for: try TestImage.png(width: 64, height: 48), options: .avoidDecode)
        let pipeline = ImagePipeline(configuration)
        let tooLarge = await #expect(throws: EideticError.self) { try await pipeline.image(for: large) }
        #expect(tooLarge?.code == .limitExceeded)
        let page = ImageRequest(.bytes(Array("<html></html>".utf8)), options: .avoidDecode)
        let none = await #expect(throws: EideticError.self) { try await pipeline.image(for: page) }
        #expect(none?.code == .notAnImage)
    }

    @Test("L06 avoidDecode: the header agrees with the decoded image, in every format", .needsCorpus)
    func headerMatchesImage() throws {
        var formats: Set<ImageFormat> = [], options = DecodeOptions()
        for (index, name) in try Corpus.files().enumerated() where index.isMultiple(of: Torture.repetitions(7, full: 1))
        {
            let bytes = try Corpus.bytes(of: name)
            guard bytes.count < 300_000 else { continue }
            options.size = index.isMultiple(of: 2) ? PixelSize(width: 50, height: 40) : nil
            guard let decoded = try? ImageDecoder.decode(bytes, options: options) else { continue }
            let deferred = try ImageDecoder.makeDeferredImage(from: bytes, options: options, limits: .standard) { _ in
                decoded
            } decodeShared: { _ in
                decoded
            }
            #expect(deferred.image.size == decoded.size && deferred.image.sourceSize == decoded.sourceSize, "\(name)")
            #expect(deferred.image.format == decoded.format, "\(name)")
            formats.insert(decoded.format)
        }
        #expect(formats.isSuperset(of: [.jpeg, .png, .gif, .webp, .tiff, .bmp]))
    }

    @Test("L06 avoidDecode has no effect on transforms and on preloaded frames")
    func decodedAnyway() async throws {
        let pipeline = ImagePipeline(.init()), png = ImageRequest.Resource.bytes(try TestImage.png(width: 8, height: 6))
        let transformed = ImageRequest(
            png,
            rendering: .init(transform: CountingTransform(count: Counter())),
            options: .avoidDecode
        )
        #expect(try await pipeline.image(for: transformed).isDecoded)
        let animation = ImageRequest.Resource.bytes(TestImage.animatedGIF)
        let frames = ImageRequest(animation, options: [.avoidDecode, .preloadAllFrames])
        #expect(try await pipeline.image(for: frames).frames.count == 2)
        let first = try await pipeline.response(for: ImageRequest(animation, options: .avoidDecode))
        #expect(!first.image.isDecoded)
        #expect(first.header?.frameCount == 2)
        #expect(first.image.frames.count == 1)
    }

    @Test("L06 L12 avoidDecode: a slot shows decoded images only")
    @MainActor
    func slot() async throws {
        let display = DecodingDisplay()
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(.init()), gate: DisplayGate())
        slot.load(makeRequest(for: try TestImage.png(width: 8, height: 6), options: .avoidDecode))
        try await eventually("an image is displayed") { display.wasDecoded != nil }
        #expect(display.wasDecoded == true)
        // Also if a request processor restores the option.
        var configuration = ImagePipeline.Configuration()
        configuration.requestProcessors = [{ request in request.with(options: .avoidDecode) }]
        display.wasDecoded = nil
        let secondSlot = ImageSlot(display: display, pipeline: ImagePipeline(configuration), gate: DisplayGate())
        secondSlot.load(makeRequest(for: try TestImage.png(width: 9, height: 6), options: []))
        try await eventually("an image is displayed") { display.wasDecoded != nil }
        #expect(display.wasDecoded == true)
    }

    @Test("L06 L11 avoidDecode: an image decoded on use does not replace the one in memory")
    func replaced() async throws {
        let sizes = Counter(), images = try [8, 16].map { try TestImage.png(width: $0, height: 6) }
        let server = try ScriptedOrigin { _ in
            sizes.increment()
            return [.response(200, headers: [:], body: images[sizes.value - 1])]
        }
        let pipeline = ImagePipeline(.init())
        let request = ImageRequest(server.url + "/a", options: .avoidDecode, cachePolicy: .reload)
        let first = try await pipeline.image(for: request)
        #expect(try await pipeline.image(for: request.with(options: [], cachePolicy: .reload)).pixels.size.width == 16)
        #expect(first.pixels.size.width == 8)
        #expect(pipeline.cachedImage(for: request)?.size.width == 16)
    }

    @Test("L19 a prefetch to memory decodes, whatever the options say")
    func prefetched() async throws {
        let pipeline = ImagePipeline(.init()),
            request = makeRequest(for: try TestImage.png(width: 8, height: 6), options: .avoidDecode)
        _ = await ImagePrefetcher(pipeline: pipeline).prefetch([request]).finish()
        #expect(pipeline.cachedImage(for: request)?.size.width == 8)
    }

    @Test("L06 avoidDecode: an undecoded image that the application inserted into memory is not delivered")
    func undecodedInMemory() async throws {
        let pipeline = ImagePipeline(.init()),
            request = makeRequest(for: try TestImage.png(width: 8, height: 6), options: .avoidDecode)
        let lazy = try await pipeline.image(for: request), entries = pipeline.cache.memory.images
        _ = try await pipeline.image(for: request.with(options: []))
        let key = try #require(entries.entries.first?.key)
        pipeline.removeAllFromMemory()
        entries.insert(lazy, for: key, cost: lazy.cost)
        #expect(pipeline.cachedImage(for: request) == nil)
        #expect(try await pipeline.image(for: request.with(options: [])).isDecoded)
    }

    @Test("L06 L11 avoidDecode: a changed image is decoded, and the previous one is not stored")
    func changed() async throws {
        let sizes = Counter(), images = try [8, 16].map { try TestImage.png(width: $0, height: 6) }
        let server = try ScriptedOrigin { _ in
            sizes.increment()
            return [.response(200, headers: [:], body: images[sizes.value < 3 ? 0 : 1])]
        }
        let pipeline = ImagePipeline(.init())
        let request = ImageRequest(server.url + "/a", options: .avoidDecode, cachePolicy: .reload)
        let old = try await pipeline.image(for: request)
        #expect(try await pipeline.image(for: request.with(options: [], cachePolicy: .reload)).pixels.size.width == 8)
        let changed = try await pipeline.response(
            for: request.with(options: [.avoidDecode, .refreshCached], cachePolicy: .standard)
        )
        #expect(changed.image.isDecoded && changed.image.size.width == 16)
        pipeline.removeAllFromMemory()
        #expect(old.pixels.size.width == 8)
        #expect(pipeline.cachedImage(for: request) == nil)
    }
}

/// A display that records whether the image it is given was decoded.
@MainActor
private final class DecodingDisplay: ImageDisplay {
    var wasDecoded: Bool?

    func display(_ image: Image?, transition: ImageTransition?, completion: @escaping @MainActor () -> Void) {
        if let image { wasDecoded = image.isDecoded }
        completion()
    }
}
