@testable import Eidetic
import EideticCodecs
import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// The steps of a load, in the tradition of SDWebImage: the outcome of each, and the test that shows it.
///
/// | step | outcome | test |
/// |---|---|---|
/// | 1 a view cancels its slot's earlier load | it completes first, its image is never shown | `ImageSlotTests.reuse` |
/// | 2a text that is not a URL | `invalidURL` | `FailureTests.badURLs` |
/// | 2b a URL on the list of failures | the earlier error, without a request | `listed` |
/// | 3 a hit in memory | delivered before the call returns, on the caller's thread | `ImageSlotTests.memoryHit` |
/// | 4 a hit on disk | read on another thread, inserted into memory | `diskHit` |
/// | 5 two equal loads miss at the same time | one read, one decode | `simultaneousMisses` |
/// | 6 a rendition is not in memory | made from the cached bytes, without the network | `derived` |
/// | 7 `cachedOnly` | never the network; a miss is `cacheMiss` | `PipelineTests.fromCacheOnly` |
/// | 8 `refreshCached`, unchanged | the cached image, and no second one | `RevalidationTests.unchanged` |
/// | 9 `refreshCached`, changed | the cached image, then the new one | `RevalidationTests.changed` |
/// | 10 `refreshCached`, no response | the cached image, and the error | `RevalidationTests.unreachable` |
/// | 11 an equal download is active | joined, with its callers' highest priority | `PipelineTests.oneHundredCallers` |
/// | 12 progress | the received bytes and, if it is known, the expected number | `progress` |
/// | 13 the status is an error | the error; nothing is cached | `FailureTests.network` |
/// | 14a the body is not an image | `notAnImage`; nothing is cached | `FailureTests.html` |
/// | 14b the body ends early | `truncated`; nothing is cached | `FailureTests.truncated` |
/// | 15 several sizes of one URL | one download, a decode for each size | `PipelineTests.tenSizes` |
/// | 16 a transform | animations are left unchanged without `transformAnimatedImage` | `animated` |
/// | 17 the store | after the response; before it if the request waits | `storeAfterAnswer`, `PipelineTests.sources` |
/// | 18 the view shows the image | with a transition only if it was not in memory | `ImageSlotTests.shows` |
@Suite("Steps of a load", .timeLimit(.minutes(2)), .needsNginx)
struct StepTests {
    /// Returns a fixture whose caches have an image, and its request.
    private func loaded() async throws -> (PipelineFixture, ImageRequest) {
        let fixture = try await PipelineFixture(), request = try fixture.serve(cachePolicy: .afterStorage)
        _ = try await fixture.pipeline.image(for: request)
        return (fixture, request)
    }

    @Test(
        "L18 L07 step 2: a URL on the list of failures fails with the same error, without a request, until retryFailed"
    )
    func listed() async throws {
        let fixture = try await PipelineFixture()
        let request = ImageRequest(fixture.server.url + "/late.png")
        for _ in 0..<2 {
            let error = await #expect(throws: EideticError.self) { try await fixture.pipeline.image(for: request) }
            #expect(error?.httpStatus == 404)
        }
        #expect(try await fixture.server.requestCount(for: "/late.png") == 1)
        _ = try fixture.serve("late.png")
        let retrying = request.with(options: .retryFailed)
        #expect(try await fixture.pipeline.response(for: retrying).source == .network)
    }

    @Test("L18 C07 step 4: a disk hit fills memory")
    func diskHit() async throws {
        let (fixture, request) = try await loaded()
        let next = try fixture.nextRun()
        let response = try await next.response(for: request)
        #expect(response.source == .disk)
        #expect(response.trace.steps.map(\.stage) == [.memory, .disk, .decode])
        #expect(next.cachedImage(for: request) != nil)
    }

    @Test("L18 an image from disk is in memory when it is delivered")
    @MainActor
    func memoryFirst() async throws {
        let (fixture, request) = try await loaded()
        let next = try fixture.nextRun()
        let isInMemory = await withCheckedContinuation { continuation in
            next.load(request) { _ in
                continuation.resume(returning: next.cachedImage(for: request) != nil)
            }
        }
        #expect(isInMemory)
    }

    @Test("L18 step 5: equal loads that miss at the same time read and decode once")
    func simultaneousMisses() async throws {
        let (fixture, request) = try await loaded()
        let next = try fixture.nextRun(), decodes = Counter()
        let counted = request.with(rendering: .init(transform: CountingTransform(count: decodes)))
        async let one = next.response(for: counted)
        async let two = next.response(for: counted)
        _ = try await (one, two)
        #expect(decodes.value == 1)
    }

    @Test("L02 twenty loads of one image at the same time share the decode, the transform and the write to disk")
    func sharedWork() async throws {
        let directory = try TemporaryDirectory(named: "shared"), plan = FaultPlan()
        let gate = Gate(), transforms = Counter()
        let settings = DiskCache.Configuration(directory: directory.path(of: "cache"))
        let disk = try DiskCache(settings, fileSystem: FileSystem(observer: plan))
        let pipeline = ImagePipeline(.init(diskCache: disk)), png = try TestImage.png(width: 8, height: 6)
        let resource = ImageRequest.Resource.provider(name: "chart") { () throws(EideticError) in
            await gate.wait()
            return png
        }
        let rendering = ImageRequest.Rendering(transform: CountingTransform(count: transforms))
        let request = ImageRequest(resource, rendering: rendering, cachePolicy: .afterStorage)
        let loads = (0..<20).map { _ in Task { try await pipeline.response(for: request) } }
        try await eventually("number of loads", is: 20) { pipeline.statistics.loads }
        plan.resetCalls()
        gate.open()
        var buffers: Set<ObjectIdentifier> = []
        for load in loads { buffers.insert(ObjectIdentifier(try await load.value.image.pixels)) }
        #expect(buffers.count == 1)
        #expect(transforms.value == 1)
        let path = disk.path(for: "provider:chart")
        #expect(plan.calls.count { $0.call == .rename && $0.path == path } <= 1)
        #expect(plan.count(of: .rename) >= 1)
        #expect(try disk.blocking.contains("provider:chart"))
    }

    @Test(
        "L06 L13 a drawing is transformed only with transformVectorImage",
        .enabled(if: ImageDecoder.supportedFormats.contains(.svg), "this build does not draw SVG")
    )
    func vectors() async throws {
        let drawing = Array("<svg xmlns='http://www.w3.org/2000/svg' width='4' height='3'></svg>".utf8)
        for (options, count) in [(ImageOptions(), 0), (.transformVectorImage, 1)] {
            let calls = Counter(), rendering = ImageRequest.Rendering(transform: CountingTransform(count: calls))
            let request = ImageRequest(.bytes(drawing), rendering: rendering, options: options)
            #expect(try await ImagePipeline(.init()).image(for: request).format == .svg)
            #expect(calls.value == count)
        }
    }

    @Test("L18 L13 step 6: renditions are made from the cached bytes, without the network")
    func derived() async throws {
        let (fixture, request) = try await loaded()
        await fixture.server.stop()
        let transformed = request.with(rendering: .init(transform: CountingTransform(count: Counter())))
        #expect(try await fixture.nextRun().response(for: transformed).source == .disk)
        let small = request.with(rendering: .init(size: PixelSize(width: 8, height: 8)))
        #expect(try await fixture.nextRun().response(for: small).image.size == PixelSize(width: 8, height: 6))
    }

    @Test("L08 step 12: progress has the received and the expected bytes; an unknown length is nil")
    func progress() async throws {
        let png = try TestImage.png(width: 100, height: 100)
        let server = try ScriptedOrigin { request in
            let body = Array(png.prefix(20_000)), remaining = Array(png.dropFirst(20_000))
            if request.path == "/known.png" { return [.response(200, headers: [:], body: png)] }
            return [.head(200, headers: ["Transfer-Encoding": "chunked"]), .chunk(body), .chunk(remaining), .chunk([])]
        }
        let pipeline = ImagePipeline(.init())
        for (path, expected) in [("known", Int?.some(png.count)), ("unknown", nil)] {
            var last: LoadProgress?
            for await event in pipeline.task(for: ImageRequest("\(server.url)/\(path).png")).events {
                if case .progress(let progress) = event { last = progress }
            }
            #expect(last == LoadProgress(received: png.count, expected: expected))
        }
    }

    @Test("L13 L06 step 16: a transform leaves animations unchanged, unless transformAnimatedImage is set")
    func animated() async throws {
        let gif = TestImage.animatedGIF
        for (options, count) in [(ImageOptions(), 0), (.transformAnimatedImage, 2)] {
            let calls = Counter()
            let request = ImageRequest(
                .bytes(gif),
                rendering: .init(transform: CountingTransform(count: calls)),
                options: options.union(.preloadAllFrames)
            )
            #expect(try await ImagePipeline(.init()).image(for: request).frames.count == 2)
            #expect(calls.value == count)
        }
    }

    @Test("L06 firstFrameOnly, preloadAllFrames and matchAnimatedImage")
    func frames() async throws {
        let pipeline = ImagePipeline(.init()), gif = ImageRequest.Resource.bytes(TestImage.animatedGIF)
        func count(_ options: ImageOptions) async throws -> Int {
            try await pipeline.image(for: ImageRequest(gif, options: options)).frames.count
        }
        #expect(try await count([]) == 1)
        #expect(try await count(.preloadAllFrames) == 2)
        #expect(try await count([.preloadAllFrames, .firstFrameOnly]) == 1)
        #expect(try await count([.preloadAllFrames, .matchAnimatedImage]) == 2)
        #expect(try await count(.matchAnimatedImage) == 2)
        let still = ImageRequest(.bytes(try TestImage.png(width: 2, height: 2)), options: .matchAnimatedImage)
        for _ in 0..<2 {
            let error = await #expect(throws: EideticError.self) { try await pipeline.image(for: still) }
            #expect(error?.code == .unsupportedFormat)
        }
    }

    @Test("L18 step 17: memory is filled and the response delivered before the write to disk ends")
    func storeAfterAnswer() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve()
        let response = try await fixture.pipeline.response(for: request)
        #expect(!response.trace.steps.contains { $0.stage == .store })
        #expect(fixture.pipeline.cachedImage(for: request) != nil)
        let waiting = try fixture.serve("b.png", cachePolicy: .afterStorage)
        let stored = try await fixture.pipeline.response(for: waiting)
        #expect(stored.trace.steps.map(\.stage) == [.memory, .disk, .network, .decode, .store])
        #expect(try await DiskCache(.init(directory: fixture.directory.path(of: "cache"))).contains(waiting.name))
    }

    @Test("L26 the trace of a miss on disk says whether the entry was absent, expired or damaged")
    func diskMissReasons() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(cachePolicy: .afterStorage)
        let disk = try DiskCache(.init(directory: fixture.directory.path(of: "cache")))
        func missNote() async throws -> String? {
            let trace = try await fixture.nextRun().response(for: request).trace
            return trace.steps.first { $0.stage == .disk }?.detail
        }
        #expect(try await missNote() == "miss")
        try disk.blocking.insert([1], for: request.name, metadata: .init(expirationTime: Timestamp(nanoseconds: 1)))
        #expect(try await missNote() == "miss: expired")
        #expect(truncate(disk.path(for: request.name), 20) == 0)
        #expect(try await missNote()?.hasPrefix("miss: damaged, too short for an entry: 20 bytes") == true)
    }

    @Test("L26 the trace of a miss has the reason of the removal, and the statistics count hits by tier")
    func missReasons() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(cachePolicy: .afterStorage), pipeline = fixture.pipeline
        #expect(try await pipeline.response(for: request).trace.steps.first?.detail == "miss")
        #expect(try await pipeline.response(for: request).trace.steps.first?.detail == "hit")
        pipeline.removeAllFromMemory()
        #expect(try await pipeline.response(for: request).trace.steps.first?.detail == "miss: removed")
        let statistics = pipeline.statistics
        #expect(statistics.memoryHitRatio == 1 / 3.0)
        #expect(statistics.diskHitRatio == 0.5)
        #expect(statistics.savedBytes == 2 * (try TestImage.png(width: 64, height: 48)).count)
        #expect(statistics.stages[.decode]?.count == 2)
        let lines = statistics.prometheusText.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines.contains("eidetic_loads_total 3"))
        #expect(lines.contains("eidetic_hit_ratio{tier=\"disk\"} 0.5"))
        #expect(lines.allSatisfy { Double($0.split(separator: " ").last ?? "") != nil })
        #expect(firstFlaw(inExposition: statistics.prometheusText) == nil)
    }

    @Test("L20 an interceptor may replace a failed request")
    func interceptors() async throws {
        let fixture = try await PipelineFixture()
        let good = try fixture.serve(), bad = ImageRequest(fixture.server.url + "/missing.png")
        var configuration = ImagePipeline.Configuration()
        configuration.interceptors = [
            FunctionInterceptor { request, next throws(EideticError) in
                do throws(EideticError) { return try await next(request) } catch { return try await next(good) }
            }
        ]
        #expect(try await ImagePipeline(configuration).response(for: bad).source == .network)
        #expect(try await fixture.server.requests().map(\.path) == ["/missing.png", "/a.png"])
    }

    @Test("L27 interceptors and processors run once for each load, whether from network, disk or memory")
    func countsCalls() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.serve(cachePolicy: .afterStorage)
        let processed = Counter(), intercepted = Counter()
        @Sendable func process(_ request: ImageRequest) throws(EideticError) -> ImageRequest {
            processed.increment()
            return request
        }
        var configuration = fixture.pipeline.configuration
        configuration.requestProcessors = [process]
        configuration.interceptors = [
            FunctionInterceptor { request, next throws(EideticError) in
                intercepted.increment()
                return try await next(request)
            }
        ]
        let pipeline = ImagePipeline(configuration)
        #expect(try await pipeline.response(for: request).source == .network)
        #expect(processed.value == 1 && intercepted.value == 1)
        #expect(try await pipeline.response(for: request).source == .memory)
        #expect(processed.value == 2 && intercepted.value == 2)
        #expect(try await ImagePipeline(configuration).response(for: request).source == .disk)
        #expect(processed.value == 3 && intercepted.value == 3)
        let completions = Counter()
        _ = await MainActor.run { pipeline.load(request) { _ in completions.increment() } }
        try await expectExactly(1, of: completions, in: pipeline)
        #expect(processed.value == 4 && intercepted.value == 4)
    }

    @Test("L20 Accept lists the formats that this build decodes, then any image")
    func accept() async throws {
        let png = try TestImage.png(width: 4, height: 3)
        let origin = try ScriptedOrigin { _ in [.response(200, headers: [:], body: png)] }
        _ = try await ImagePipeline(.init()).image(for: ImageRequest(origin.url))
        let types = try #require(origin.requests.first?.headers["accept"]).split(separator: ",").map(String.init)
        #expect(types == ImageDecoder.supportedFormats.map(\.mimeType) + ["image/*", "*/*;q=0.8"])
        #expect(Set(types).isSuperset(of: ["image/jpeg", "image/png", "image/gif", "image/webp", "image/tiff"]))
    }

    @Test("L15 L20 with request processors a memory hit is still synchronous, under the processed identity")
    func processedHit() async throws {
        var configuration = ImagePipeline.Configuration()
        configuration.requestProcessors = [thumbnail]
        let pipeline = ImagePipeline(configuration)
        let request = ImageRequest(.bytes(try TestImage.png(width: 64, height: 48)))
        _ = try await pipeline.image(for: request)
        #expect(pipeline.cachedImage(for: request)?.size == PixelSize(width: 8, height: 6))
        let isDone = await MainActor.run { pipeline.load(request) { _ in }.result != nil }
        #expect(isDone)
    }

    @Test("C15 L13 the scale in a name is that of the image, also if it is downscaled or transformed")
    func scale() async throws {
        let directory = try TemporaryDirectory(named: "scale"), pipeline = ImagePipeline(.init())
        try directory.write(try TestImage.png(width: 64, height: 48), to: "a@2x.png")
        let request = ImageRequest("file://" + directory.path(of: "a@2x.png"))
        #expect(try await pipeline.image(for: request).scale == 2)
        let small = request.with(rendering: .init(size: PixelSize(width: 8, height: 8)))
        #expect(try await pipeline.image(for: small).scale == 2)
        let transformed = request.with(rendering: .init(transform: CountingTransform(count: Counter())))
        #expect(try await pipeline.image(for: transformed).scale == 2)
    }

    @Test("L06 a request that includes bytes gets them with a memory hit")
    func memoryData() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(cachePolicy: .afterStorage)
        let bytes = try await fixture.pipeline.response(for: request).encodedBytes
        #expect(try await fixture.pipeline.response(for: request).encodedBytes == nil)
        var withBytes = request
        withBytes.cachePolicy.includesBytes = true
        #expect(try await fixture.pipeline.response(for: withBytes).encodedBytes == bytes)
    }

    @Test(
        "L06 a request that waits for storage waits also if memory has the image while its bytes are still being written"
    )
    func waitsForWrites() async throws {
        let directory = try TemporaryDirectory(named: "waits"), plan = FaultPlan(), proceed = Gate(), started = Gate()
        let settings = DiskCache.Configuration(directory: directory.path(of: "cache"))
        let disk = try DiskCache(settings, fileSystem: FileSystem(observer: plan))
        let pipeline = ImagePipeline(.init(diskCache: disk)), png = try TestImage.png(width: 8, height: 6)
        let resource = ImageRequest.Resource.provider(name: "made") { () throws(EideticError) in png }
        plan.before(.write) {
            started.open()
            proceed.block()
        }
        plan.fail(.write, with: ENOSPC, count: .max)
        _ = try await pipeline.image(for: ImageRequest(resource))
        await started.wait()
        let waiting = ImageRequest(resource, cachePolicy: .afterStorage), completions = Counter()
        let load = await MainActor.run { pipeline.load(waiting) { _ in completions.increment() } }
        try await eventually("the load waits for the write") {
            pipeline.dataLoader.unstoredImage(for: waiting)?.storage?.activeWrite?.isAwaited == true
        }
        #expect(completions.value == 0)
        proceed.open()
        try await expectExactly(1, of: completions, in: pipeline)
        let response = try #require(try load.result?.get())
        #expect(response.source == .memory)
        #expect(response.storeError != nil)
    }

    @Test("L13 L21 a transform of many frames ends between two of them when its last caller is cancelled")
    func cancelledFrames() async throws {
        var configuration = ImagePipeline.Configuration()
        configuration.maximumConcurrentDecodes = 1
        let pipeline = ImagePipeline(configuration), started = Gate(), proceed = Gate(), calls = Counter()
        let changes = TransformChain([
            CountingTransform(count: calls), BlockingTransform(started: started, proceed: proceed),
        ])
        let request = ImageRequest(
            .bytes(TestImage.animatedGIF),
            rendering: .init(transform: changes),
            options: [.preloadAllFrames, .transformAnimatedImage]
        )
        let task = Task { try await pipeline.image(for: request) }
        await started.wait()
        task.cancel()
        _ = await task.result
        proceed.open()
        // The decoding thread is free again.
        _ = try await pipeline.image(for: ImageRequest(.bytes(try TestImage.png(width: 2, height: 2))))
        #expect(calls.value == 1)
    }

    @Test("L06 L02 an image from an unverified connection is not used for a request that verifies")
    func unverified() async throws {
        let fixture = try await PipelineFixture(.init(usesTLS: true))
        _ = try fixture.serve()
        let url = try #require(fixture.server.secureURL) + "/a.png"
        let unverified = ImageRequest(url, options: .allowInvalidCertificates, cachePolicy: .afterStorage)
        _ = try await fixture.pipeline.image(for: unverified)
        let verified = ImageRequest(url, cachePolicy: .cachedOnly)
        #expect(fixture.pipeline.cachedImage(for: verified) == nil)
        let error = await #expect(throws: EideticError.self) { try await fixture.pipeline.image(for: verified) }
        #expect(error?.code == .cacheMiss)
        #expect(try await fixture.nextRun().response(for: unverified).source == .disk)
    }
}

@Sendable
private func thumbnail(of request: ImageRequest) throws(EideticError) -> ImageRequest {
    request.with(rendering: .init(size: PixelSize(width: 8, height: 8)))
}
