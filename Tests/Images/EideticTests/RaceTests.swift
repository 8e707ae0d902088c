import Eidetic
import EideticCore
import EideticTestSupport
import Testing

/// Concurrent events of loads, their outcomes, and the tests that show them.
///
/// | situation | outcome | test |
/// |---|---|---|
/// | a cell is reused | the first load completes first, its image is never shown | `ImageSlotTests.reuse`, `storm` |
/// | one of two callers is cancelled | the other one gets its image | `firstLeaves` |
/// | cancelled, and requested again at once | an image | `askedAgain` |
/// | 200 requests at once | every one completes | `twoHundred` |
/// | cancelled during the read from disk | one completion, `cancelled` | `duringDisk` |
/// | cancelled during decode or transform | one completion, `cancelled`, before the work ends | `duringTransform` |
/// | cancelled during the store | one completion, `cancelled`; the image is stored | `duringStore` |
/// | `cancel` on the main actor | the completion is called before it returns | `cancelCallsBack` |
/// | cancelled after the end | nothing | `cancelCallsBack` |
/// | `refreshCached` | one terminal event, however often the image changes | `RevalidationTests` |
/// | one URL in several sizes | one download, an image of each size | `PipelineTests.tenSizes` |
/// | one URL with other header fields | another image | `PipelineTests.headersAreIdentity` |
/// | previews for two sizes | previews of each size | `ProgressiveTests.sizes` |
/// | bytes are received during the decode of a preview | it is decoded from a copy | `ProgressiveTests` (TSan) |
/// | the bytes are replaced while the old ones are decoded | the old image is delivered, and not cached | `replaced` |
/// | the old bytes are read while new ones are written | their image is removed afterwards | `replacedLater` |
/// | a slow transform holds bytes that are on disk | a new load uses the disk, and its freshness | `heldByTransform` |
/// | a cancelled load ends late | its successor is still joined | `lateEnd` |
@Suite("Races", .timeLimit(.minutes(2)))
struct RaceTests {
    private func png() throws -> [UInt8] { try TestImage.png(width: 8, height: 6) }

    /// A server whose responses wait for a gate; it has received a request when `waitForRequests` returns.
    private func makeServer(gate: Gate) throws -> ScriptedOrigin {
        let png = try png()
        return try ScriptedOrigin { _ in [.wait(gate), .response(200, headers: [:], body: png)] }
    }

    @Test("L02 of two callers of one URL the first is cancelled, and the second gets its image")
    func firstLeaves() async throws {
        let gate = Gate(), server = try makeServer(gate: gate), pipeline = ImagePipeline(.init())
        let request = ImageRequest(server.url + "/a.png")
        let first = Task { try await pipeline.image(for: request) }
        let second = Task { try await pipeline.image(for: request) }
        try await eventually("number of joined loads", is: 1) { pipeline.statistics.joined }
        await server.waitForRequests(count: 1)
        first.cancel()
        let error = await #expect(throws: EideticError.self) { try await first.value }
        #expect(error?.code == .cancelled)
        gate.open()
        #expect(try await second.value.size.width == 8)
        #expect(server.requests.count == 1)
    }

    @Test("L02 cancelled and requested again at once: an image, by a new download or by one not cancelled yet")
    func askedAgain() async throws {
        let gate = Gate(), server = try makeServer(gate: gate), pipeline = ImagePipeline(.init())
        let request = ImageRequest(server.url + "/a.png")
        let first = Task { try await pipeline.image(for: request) }
        await server.waitForRequests(count: 1)
        first.cancel()
        let second = Task { try await pipeline.image(for: request) }
        try await eventually("the second download") {
            server.requests.count == 2 || pipeline.statistics.joined == 1
        }
        gate.open()
        #expect(try await second.value.size.width == 8)
        await #expect(throws: EideticError.self) { try await first.value }
    }

    @Test("L21 two hundred loads at once: two hundred completions", .needsNginx)
    func twoHundred() async throws {
        let fixture = try await PipelineFixture()
        let requests = try (0..<20).map { try fixture.serve("\($0).png") }
        let completions = Counter(), images = Counter()
        await MainActor.run {
            for index in 0..<200 {
                fixture.pipeline.load(requests[index % 20]) { result in
                    completions.increment()
                    if case .success = result { images.increment() }
                }
            }
        }
        try await expectExactly(200, of: completions, in: fixture.pipeline)
        #expect(images.value == 200)
        for index in 0..<20 { #expect(try await fixture.server.requestCount(for: "/\(index).png") == 1) }
    }

    @Test("L21 cancelled during the read from disk: one completion, with cancelled", .needsNginx)
    func duringDisk() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(cachePolicy: .afterStorage)
        _ = try await fixture.pipeline.image(for: request)
        let next = try fixture.nextRun(), completions = Counter(), cancellations = Counter()
        for _ in 0..<50 {
            let load = await MainActor.run {
                next.removeAllFromMemory()
                return next.load(request) { result in
                    completions.increment()
                    if case .failure(let error) = result, error.code == .cancelled { cancellations.increment() }
                }
            }
            await MainActor.run { load.cancel() }
        }
        try await eventually("the pipeline is idle") { next.isIdle }
        #expect(completions.value == 50)
        #expect(cancellations.value > 0)
    }

    @Test("L21 L02 cancelled during decode or transform: completed at once, once; the next load succeeds")
    func duringTransform() async throws {
        let started = Gate(), proceed = Gate(), pipeline = ImagePipeline(.init())
        let rendering = ImageRequest.Rendering(transform: BlockingTransform(started: started, proceed: proceed))
        let request = ImageRequest(.bytes(try png()), rendering: rendering)
        let task = Task {
            var outcomes: [String] = []
            for await event in pipeline.task(for: request).events {
                if case .failed(let error) = event { outcomes.append("\(error.code)") }
                if case .finished = event { outcomes.append("finished") }
            }
            return outcomes
        }
        await started.wait()
        task.cancel()
        // The transform still runs, and no task waits for it.
        #expect(await task.value == ["\(EideticError.Code.cancelled)"])
        #expect(pipeline.cachedImage(for: request) == nil)
        proceed.open()
        #expect(try await pipeline.image(for: request).size.width == 8)
    }

    @Test("L02 bytes that a slow transform holds are used by concurrent loads, without another request")
    func heldBytes() async throws {
        let started = Gate(), proceed = Gate(), isOpen = Gate()
        isOpen.open()
        var configuration = ImagePipeline.Configuration()
        configuration.maximumConcurrentDecodes = 2
        let server = try makeServer(gate: isOpen), pipeline = ImagePipeline(configuration)
        let request = ImageRequest(server.url + "/a")
        let blocking = request.with(rendering: .init(transform: BlockingTransform(started: started, proceed: proceed)))
        let first = Task { try await pipeline.image(for: blocking) }
        await started.wait()
        #expect(try await pipeline.image(for: request).size.width == 8)
        proceed.open()
        _ = try await first.value
        #expect(server.requests.count == 1)
    }

    @Test(
        "L21 L06 cancelled while it waits for the store: one completion, with cancelled; the image is stored",
        .needsNginx
    )
    func duringStore() async throws {
        let fixture = try await PipelineFixture(), completions = Counter()
        let request = try fixture.serve(cachePolicy: .afterStorage)
        let load = await MainActor.run { fixture.pipeline.load(request) { _ in completions.increment() } }
        try await eventually("the image is in memory") { fixture.pipeline.cachedImage(for: request) != nil }
        await MainActor.run { load.cancel() }
        #expect(completions.value == 1)
        let disk = try DiskCache(.init(directory: fixture.directory.path(of: "cache")))
        try await eventually("the image is on disk") { try disk.blocking.contains(request.name) }
        #expect(completions.value == 1)
    }

    @Test("L17 L21 cancel on the main actor calls back before it returns; a second cancel does nothing")
    @MainActor
    func cancelCallsBack() async throws {
        let gate = Gate(), server = try makeServer(gate: gate), pipeline = ImagePipeline(.init())
        let request = ImageRequest(server.url + "/a.png"), otherRequest = ImageRequest(.bytes(try png()))
        _ = try await pipeline.image(for: otherRequest)
        var order: [String] = []
        let load = pipeline.load(request) { _ in
            order.append("cancelled")
            _ = pipeline.cachedImage(for: request)
            pipeline.removeAllFromMemory()
            pipeline.load(otherRequest) { _ in order.append("other") }
        }
        load.cancel()
        order.append("returned")
        #expect(order.first == "cancelled")
        load.cancel()
        #expect(order.count { $0 == "cancelled" } == 1)
        gate.open()
        try await eventually("the other load has ended") { order.contains("other") }
        var completions = 0
        let again = pipeline.load(otherRequest) { _ in completions += 1 }
        again.cancel()
        #expect(completions == 1)
    }

    @Test(
        "L11 bytes replaced while the old ones are decoded: the old image is delivered, and not cached",
        .needsNginx,
        arguments: [(.refreshCached, .standard), ([], .reload)] as [(ImageOptions, ImageRequest.CachePolicy)]
    )
    func replaced(byLoadWith options: ImageOptions, policy: ImageRequest.CachePolicy) async throws {
        let fixture = try await PipelineFixture(), started = Gate(), proceed = Gate()
        var configuration = ImagePipeline.Configuration(diskCache: fixture.pipeline.configuration.diskCache)
        configuration.maximumConcurrentDecodes = 4
        let pipeline = ImagePipeline(configuration)
        let request = try fixture.serve(options: options, cachePolicy: policy.waiting)
        _ = try await pipeline.image(for: request)
        let rendering = ImageRequest.Rendering(transform: BlockingTransform(started: started, proceed: proceed))
        let slow = request.with(rendering: rendering, options: [], cachePolicy: .standard)
        let old = Task { try await pipeline.image(for: slow).size }
        await started.wait()
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        #expect(try await pipeline.image(for: request).size == PixelSize(width: 20, height: 10))
        proceed.open()
        #expect(try await old.value == PixelSize(width: 64, height: 48))
        #expect(pipeline.cachedImage(for: slow) == nil)
        #expect(try await pipeline.image(for: slow).size == PixelSize(width: 20, height: 10))
    }

    @Test(
        "L11 an image made from the old bytes while the new ones are written is removed from memory afterwards",
        .needsNginx
    )
    func replacedLater() async throws {
        let fixture = try await PipelineFixture(), plan = FaultPlan(), writing = Gate(), proceed = Gate()
        let directory = DiskCache.Configuration(directory: fixture.directory.path(of: "cache"))
        let disk = try DiskCache(directory, fileSystem: FileSystem(observer: plan))
        let pipeline = ImagePipeline(.init(diskCache: disk)), request = try fixture.serve(cachePolicy: .afterStorage)
        _ = try await pipeline.image(for: request)
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        plan.before(.rename) {
            writing.open()
            proceed.block()
        }
        let plain = request.with(cachePolicy: .standard)
        let new = try await pipeline.image(for: plain.with(options: .refreshCached))
        await writing.wait()
        // Another data key, so that the bytes being written are not found.
        let otherKey = plain.with(rendering: .init(size: PixelSize(width: 8, height: 8)), options: .retryFailed)
        pipeline.removeAllFromMemory()
        #expect(try await pipeline.image(for: otherKey).sourceSize != new.sourceSize)
        proceed.open()
        try await eventually("the pipeline is idle") { pipeline.isIdle }
        #expect(pipeline.cachedImage(for: otherKey) == nil)
        #expect(try await pipeline.image(for: otherKey).sourceSize == new.sourceSize)
    }

    @Test("L11 new bytes of a server remove the images of the application from memory, too", .needsNginx)
    func replacedImageOfApplication() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.serve(cachePolicy: .afterStorage)
        let other = request.with(rendering: .init(transform: CountingTransform(count: Counter())))
        _ = try await fixture.pipeline.image(for: request)
        try await fixture.pipeline.cache.insert(TestImage.image(), for: .init(other), in: .memory)
        #expect(fixture.pipeline.cachedImage(for: other) != nil)
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        _ = try await fixture.pipeline.image(for: request.with(options: .refreshCached))
        #expect(fixture.pipeline.cachedImage(for: other) == nil)
    }

    @Test(
        "C20 bytes that a slow transform holds are not used once they are on disk: the server is queried",
        .needsNginx
    )
    func heldByTransform() async throws {
        let fixture = try await PipelineFixture(.init(server: "add_header Cache-Control no-cache;"))
        var configuration = ImagePipeline.Configuration(diskCache: fixture.pipeline.configuration.diskCache)
        (configuration.maximumConcurrentDecodes, configuration.freshness) = (4, .http)
        let pipeline = ImagePipeline(configuration), started = Gate(), proceed = Gate()
        let request = try fixture.serve(cachePolicy: .afterStorage)
        let slow = request.with(
            rendering: .init(transform: BlockingTransform(started: started, proceed: proceed)),
            options: []
        )
        let task = Task { try await pipeline.image(for: slow).size }
        await started.wait()
        _ = try await pipeline.image(for: request)
        let before = try await fixture.server.requests().map(\.status)
        pipeline.removeAllFromMemory()
        _ = try await pipeline.image(for: request)
        #expect(try await fixture.server.requests().map(\.status) == before + [304])
        proceed.open()
        #expect(try await task.value == PixelSize(width: 64, height: 48))
    }

    @Test("L02 a cancelled load that ends late does not replace its successor: a third load joins the second")
    func lateEnd() async throws {
        let calls = Counter(), first = Gate(), second = Gate(), png = try png()
        let resource = ImageRequest.Resource.provider(name: "late") { () throws(EideticError) in
            calls.increment()
            await (calls.value == 1 ? first : second).wait()
            return png
        }
        let pipeline = ImagePipeline(.init()), request = ImageRequest(resource)
        let one = Task { try await pipeline.image(for: request) }
        try await eventually("number of calls", is: 1) { calls.value }
        one.cancel()
        await #expect(throws: EideticError.self) { try await one.value }
        let two = Task { try await pipeline.image(for: request) }
        try await eventually("number of calls", is: 2) { calls.value }
        first.open()
        let joined = pipeline.statistics.joined
        let three = Task { try await pipeline.image(for: request) }
        try await eventually("another load is joined") { pipeline.statistics.joined > joined }
        second.open()
        _ = try await (two.value, three.value)
        #expect(calls.value == 2)
    }

    @Test("L02 L19 ten priorities are changed during the loads: the downloads follow, a promoted prefetch first")
    @MainActor
    func priority() async throws {
        let gate = Gate(), server = try makeServer(gate: gate)
        var downloads = ImagePipeline.Configuration().downloads
        downloads.maximumConcurrent = 1
        let pipeline = ImagePipeline(.init(downloader: Downloader(downloads)))
        func request(_ name: Int) throws -> ImageRequest {
            ImageRequest("\(server.url)/\(name)", priority: .low)
        }
        let completions = Counter()
        var loads = [pipeline.load(try request(0)) { _ in completions.increment() }]
        await server.waitForRequests(count: 1)
        for name in 1..<10 { loads.append(pipeline.load(try request(name)) { _ in completions.increment() }) }
        try await eventually("number of waiting downloads", is: 9) { pipeline.configuration.downloader.counts.waiting }
        for (name, priority) in [(7, LoadPriority.high), (3, .normal), (5, .high), (5, .normal)] {
            loads[name].priority = priority
        }
        // A prefetched image that becomes visible.
        let visible = pipeline.load(try request(9).with(priority: .high)) { _ in completions.increment() }
        try await eventually("number of joined loads", is: 1) { pipeline.statistics.joined }
        gate.open()
        try await expectExactly(11, of: completions, in: pipeline)
        #expect(visible.result != nil)
        let order = server.requests.map(\.path)
        #expect(order[..<3] == ["/0", "/7", "/9"] || order[..<3] == ["/0", "/9", "/7"])
        #expect(Set(order[3..<5]) == ["/3", "/5"])
        #expect(Set(order[5...]) == ["/1", "/2", "/4", "/6", "/8"])
    }
}
