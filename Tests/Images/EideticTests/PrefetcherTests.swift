import Eidetic
import EideticCore
import EideticTestSupport
import Testing

@Suite("Prefetcher", .timeLimit(.minutes(2)), .enabled(if: Nginx.isInstalled, "nginx is not installed"))
struct PrefetcherTests {
    @Test("L19 a list is prefetched: progress counts, failures are counted, the group always ends")
    func prefetches() async throws {
        let fixture = try await PipelineFixture()
        var requests = try (0..<20).map { try fixture.serve("\($0).png") }
        requests.append(ImageRequest(fixture.server.url + "/missing.png"))
        let group = ImagePrefetcher(pipeline: fixture.pipeline).prefetch(requests)
        var last: ImagePrefetcher.Progress?
        for await progress in group.progress { last = progress }
        #expect(last == ImagePrefetcher.Progress(finished: 21, failed: 1, total: 21))
        #expect(await group.finish() == last)
        for request in requests.dropLast() { #expect(fixture.pipeline.cachedImage(for: request) != nil) }
    }

    @Test("L19 to disk only: nothing is decoded into memory, and the next run needs no network")
    func toDisk() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve()
        let result = await ImagePrefetcher(pipeline: fixture.pipeline, destination: .disk).prefetch([request]).finish()
        #expect(result == ImagePrefetcher.Progress(finished: 1, total: 1))
        #expect(fixture.pipeline.cachedImage(for: request) == nil)
        #expect(try await fixture.nextRun().response(for: request).source == .disk)
    }

    @Test("L19 a cancelled group ends, and its images count as failed")
    func cancels() async throws {
        let fixture = try await PipelineFixture(.init(server: "limit_rate 1k;"))
        let requests = try (0..<9).map { try fixture.serve("\($0).png", width: 200, height: 200) }
        let group = ImagePrefetcher(pipeline: fixture.pipeline).prefetch(requests)
        group.cancel()
        #expect(await group.finish() == ImagePrefetcher.Progress(finished: 9, failed: 9, total: 9))
    }

    @Test("L19 some images of a group are cancelled, whether they wait or are loaded, and the others go on")
    func cancelsSome() async throws {
        let gate = Gate(), png = try TestImage.png(width: 4, height: 3), cancelled = Guarded<Set<String>>([])
        let server = try ScriptedOrigin { request in
            let wait: [ScriptedOrigin.Step] = request.path == "/2" ? [] : [.wait(gate)]
            return wait + [.response(200, headers: [:], body: png)]
        }
        let requests = (0..<3).map { ImageRequest("\(server.url)/\($0)") }
        let prefetcher = ImagePrefetcher(pipeline: ImagePipeline(.init()), maximumConcurrent: 1)
        let group = prefetcher.prefetch(requests) { request, error in
            if error?.code == .cancelled { cancelled.withLock { _ = $0.insert(request.name) } }
        }
        await server.waitForRequests(count: 1)
        prefetcher.cancelAll { requests[0...1].contains($0) }
        #expect(await group.finish() == ImagePrefetcher.Progress(finished: 3, failed: 2, total: 3))
        #expect(cancelled.withLock { $0 } == Set(requests[0...1].map(\.name)))
        #expect(server.requests.map(\.path) == ["/0", "/2"])
        gate.open()
    }

    @Test("L19 a group keeps its prefetcher, and with it the other groups")
    func released() async throws {
        let gate = Gate(), png = try TestImage.png(width: 4, height: 3)
        let server = try ScriptedOrigin { _ in [.wait(gate), .response(200, headers: [:], body: png)] }
        let pipeline = ImagePipeline(.init()), (ends, continuation) = AsyncStream<EideticError?>.makeStream()
        var prefetcher: ImagePrefetcher? = ImagePrefetcher(pipeline: pipeline)
        prefetcher?.prefetch([ImageRequest(server.url + "/dropped")]) { _, error in continuation.yield(error) }
        let group = prefetcher?.prefetch([ImageRequest(server.url + "/kept")])
        await server.waitForRequests(count: 2)
        prefetcher = nil
        gate.open()
        var iterator = ends.makeAsyncIterator()
        let end = try #require(await iterator.next())
        #expect(end == nil)
        #expect(await group?.finish().failed == 0)
    }

    @Test("L19 without its prefetcher and its groups nothing is loaded any more")
    func dropped() async throws {
        let gate = Gate(), server = try ScriptedOrigin { _ in [.wait(gate), .close] }
        let (ends, continuation) = AsyncStream<EideticError?>.makeStream()
        var prefetcher: ImagePrefetcher? = ImagePrefetcher(pipeline: ImagePipeline(.init()))
        prefetcher?.prefetch([ImageRequest(server.url + "/a")]) { _, error in continuation.yield(error) }
        await server.waitForRequests(count: 1)
        prefetcher = nil
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next()??.code == .cancelled)
        gate.open()
    }

    @Test("L19 the priority of a prefetcher is that of the loads that it starts", arguments: [LoadPriority.low, .high])
    @MainActor
    func priority(_ priority: LoadPriority) async throws {
        let fixture = try await PipelineFixture()
        let prefetcher = ImagePrefetcher(pipeline: fixture.pipeline)
        #expect(prefetcher.priority == .low)
        prefetcher.priority = priority
        fixture.pipeline.isUserInteracting = true
        let group = prefetcher.prefetch([try fixture.serve()])
        // Loads of low priority wait while the user scrolls; one that is asked for later does not.
        _ = try await fixture.pipeline.image(for: fixture.serve("b.png"))
        if priority == .high { #expect(await group.finish().failed == 0) }
        #expect(fixture.pipeline.statistics.networkLoads == (priority == .high ? 2 : 1))
        fixture.pipeline.isUserInteracting = false
        #expect(await group.finish().failed == 0)
        #expect(fixture.pipeline.statistics.networkLoads == 2)
    }

    @Test("L19 a paused prefetcher starts nothing until it is resumed")
    func pauses() async throws {
        let fixture = try await PipelineFixture()
        let prefetcher = ImagePrefetcher(pipeline: fixture.pipeline)
        prefetcher.isPaused = true
        let request = try fixture.serve()
        let group = prefetcher.prefetch([request])
        // A prefetch of another prefetcher, which is asked for later, ends meanwhile.
        let other = try fixture.serve("b.png")
        #expect(await ImagePrefetcher(pipeline: fixture.pipeline).prefetch([other]).finish().failed == 0)
        #expect(fixture.pipeline.statistics.loads == 1)
        #expect(try await fixture.server.requests().map(\.path) == ["/b.png"])
        prefetcher.isPaused = false
        #expect(await group.finish().failed == 0)
        #expect(try await fixture.server.requests().map(\.path) == ["/b.png", "/a.png"])
    }

    @Test("L19 of ten prefetched images the one that becomes visible is loaded next")
    @MainActor
    func promotes() async throws {
        let gate = Gate(), png = try TestImage.png(width: 4, height: 3)
        let server = try ScriptedOrigin { _ in [.wait(gate), .response(200, headers: [:], body: png)] }
        var downloads = ImagePipeline.Configuration().downloads
        downloads.maximumConcurrent = 1
        let downloader = Downloader(downloads), pipeline = ImagePipeline(.init(downloader: downloader))
        let requests = (0..<10).map { ImageRequest("\(server.url)/\($0)") }
        let group = ImagePrefetcher(pipeline: pipeline, maximumConcurrent: 10).prefetch(requests)
        try await eventually("nine downloads wait, and one runs") { downloader.counts == (waiting: 9, running: 1) }
        await server.waitForRequests(count: 1)
        let first = try #require(server.requests.first?.path)
        let visible = first == "/9" ? 8 : 9, completions = Counter()
        let load = pipeline.load(requests[visible]) { _ in completions.increment() }
        try await eventually("number of joined loads", is: 1) { pipeline.statistics.joined }
        gate.open()
        #expect(await group.finish().failed == 0)
        try await expectExactly(1, of: completions, in: pipeline)
        #expect(load.result != nil)
        #expect(server.requests.map(\.path)[1] == "/\(visible)")
        #expect(server.requests.count == 10)
    }

    @Test("L19 images are loaded in the order of the list")
    func order() async throws {
        let png = try TestImage.png(width: 4, height: 3),
            server = try ScriptedOrigin { _ in [.response(200, headers: [:], body: png)] }
        let requests = (0..<100).map { ImageRequest("\(server.url)/\($0)") }
        let group = ImagePrefetcher(pipeline: ImagePipeline(.init()), maximumConcurrent: 1).prefetch(requests)
        #expect(await group.finish().failed == 0)
        #expect(server.requests.map(\.path) == (0..<100).map { "/\($0)" })
    }

    @Test("L19 to disk only: an image that must not be stored counts as failed")
    func forbidden() async throws {
        let png = try TestImage.png(width: 4, height: 3)
        let server = try ScriptedOrigin { _ in [.response(200, headers: ["Cache-Control": "no-store"], body: png)] }
        let fixture = try await PipelineFixture(), codes = Guarded<[EideticError.Code?]>([])
        let prefetcher = ImagePrefetcher(pipeline: fixture.pipeline, destination: .disk)
        let group = prefetcher.prefetch([ImageRequest(server.url + "/a"), try fixture.serve()]) { _, result in
            if case .failure(let error) = result { codes.withLock { $0.append(error.code) } }
        }
        #expect(await group.finish().failed == 1)
        #expect(codes.withLock { $0 } == [.refused])
    }

    @Test("L19 to disk only: an image that is not stored counts as failed, a local one does not")
    func nowhere() async throws {
        let png = try TestImage.png(width: 4, height: 3), fixture = try await PipelineFixture()
        func failedCount(
            of resource: ImageRequest.Resource,
            in pipeline: ImagePipeline,
            cachePolicy: ImageRequest.CachePolicy = .standard
        ) async -> Int {
            let request = ImageRequest(resource, cachePolicy: cachePolicy)
            return await ImagePrefetcher(pipeline: pipeline, destination: .disk).prefetch([request]).finish().failed
        }
        let provided = ImageRequest.Resource.provider(name: "made") { () throws(EideticError) in png }
        #expect(await failedCount(of: provided, in: ImagePipeline(.init())) == 1)
        #expect(await failedCount(of: provided, in: fixture.pipeline, cachePolicy: .memoryOnly) == 1)
        #expect(await failedCount(of: provided, in: fixture.pipeline) == 0)
        #expect(await failedCount(of: provided, in: fixture.pipeline) == 0)
        #expect(await failedCount(of: .bytes(png), in: fixture.pipeline) == 0)
        // Only one of the prefetches found its image in a cache.
        let statistics = fixture.pipeline.statistics
        #expect(statistics.diskHits == 1 && statistics.savedBytes == png.count)
    }

    @Test("L19 an empty group ends at once")
    func empty() async throws {
        let fixture = try await PipelineFixture()
        #expect(await ImagePrefetcher(pipeline: fixture.pipeline).prefetch([]).finish().total == 0)
    }
}

@Suite("Scrolling", .timeLimit(.minutes(2)), .enabled(if: Nginx.isInstalled, "nginx is not installed"))
struct InteractionTests {
    @Test("L22 while the user scrolls, loads of low priority wait; a visible one continues, with those that it joined")
    func waits() async throws {
        let fixture = try await PipelineFixture(), pipeline = fixture.pipeline
        let one = try fixture.serve("1.png").with(priority: .low), two = try fixture.serve("2.png").with(priority: .low)
        pipeline.isUserInteracting = true
        let first = Task { try await pipeline.response(for: one) }
        let second = Task { try await pipeline.response(for: two) }
        try await eventually("number of loads", is: 2) { pipeline.statistics.loads }
        #expect(try await pipeline.response(for: two.with(priority: .normal)).source == .network)
        #expect(try await second.value.image.size == PixelSize(width: 64, height: 48))
        #expect(try await fixture.server.requestCount(for: "/1.png") == 0)
        pipeline.isUserInteracting = false
        #expect(try await first.value.source == .network)
    }

    @Test("L22 while the user scrolls, the disk is not read for loads of low priority")
    func disk() async throws {
        let fixture = try await PipelineFixture(), next = try fixture.nextRun()
        let one = try fixture.serve("1.png", cachePolicy: .afterStorage)
        let two = try fixture.serve("2.png", cachePolicy: .afterStorage)
        for request in [one, two] { _ = try await fixture.pipeline.image(for: request) }
        next.isUserInteracting = true
        let low = Task { try await next.response(for: one.with(priority: .low)) }
        try await eventually("number of loads", is: 1) { next.statistics.loads }
        #expect(try await next.response(for: two).source == .disk)
        // An entry that was read before its removal would be delivered all the same.
        let disk = try #require(next.configuration.diskCache)
        #expect(try await disk.remove(one.name) != nil)
        next.isUserInteracting = false
        #expect(try await low.value.source == .network)
    }

    @Test("L22 a waiting load can be cancelled")
    func cancels() async throws {
        let fixture = try await PipelineFixture(), pipeline = fixture.pipeline
        let request = try fixture.serve().with(priority: .low)
        pipeline.isUserInteracting = true
        let task = Task { try await pipeline.response(for: request) }
        try await eventually("number of loads", is: 1) { pipeline.statistics.loads }
        task.cancel()
        await #expect(throws: EideticError.self) { try await task.value }
    }
}

extension InteractionTests {
    @Test("L22 a provider is not called while its load is held back; a load that becomes urgent continues")
    @MainActor
    func becomesUrgent() async throws {
        let calls = Counter(), completions = Counter(), png = try TestImage.png(width: 4, height: 3)
        let pipeline = ImagePipeline(.init())
        let resource = ImageRequest.Resource.provider(name: "made") { () throws(EideticError) in
            calls.increment()
            return png
        }
        pipeline.isUserInteracting = true
        let load = pipeline.load(ImageRequest(resource, priority: .low)) { _ in completions.increment() }
        // A load of normal priority goes all the way meanwhile.
        let other = ImageRequest.Resource.provider(name: "other") { () throws(EideticError) in png }
        _ = try await pipeline.image(for: ImageRequest(other))
        #expect(calls.value == 0)
        load.priority = .high
        try await eventually("the load has ended, and the pipeline is idle") {
            completions.value > 0 && pipeline.isIdle
        }
        #expect(calls.value == 1)
        #expect(completions.value == 1)
    }

    @Test("L22 the end of a scroll resumes neither application's suspensions nor those of another pipeline's scroll")
    func reasons() async throws {
        let png = try TestImage.png(width: 4, height: 3),
            server = try ScriptedOrigin { _ in [.response(200, headers: [:], body: png)] }
        let downloader = Downloader()
        let one = ImagePipeline(.init(downloader: downloader)), request = ImageRequest(server.url + "/a")
        var two: ImagePipeline? = ImagePipeline(.init(downloader: downloader))
        downloader.suspend(upTo: .normal)
        one.isUserInteracting = true
        one.isUserInteracting = false
        let normal = Task { try await one.image(for: request) }
        try await eventually("one download waits, and none runs") { downloader.counts == (waiting: 1, running: 0) }
        for _ in 0..<2 { two?.isUserInteracting = true }
        downloader.resume()
        #expect(try await normal.value.size.width == 4)
        one.isUserInteracting = true
        one.isUserInteracting = false
        let low = Task { try await downloader.fetch(FetchRequest(url: server.url + "/b"), priority: .low) }
        try await eventually("one download waits, and none runs") { downloader.counts == (waiting: 1, running: 0) }
        // A released pipeline ends its interaction.
        two = nil
        #expect(try await low.value.status == 200)
        #expect(server.requests.map(\.path) == ["/a", "/b"])
    }

    @Test("L22 the engine handles suspensions in their order: after many concurrent ones a download continues")
    func order() async throws {
        let gates = (0..<200).map { _ in Gate() }, chunk = Array(try TestImage.png(width: 4, height: 3).prefix(40))
        let server = try ScriptedOrigin { _ in
            let head = ScriptedOrigin.Step.head(200, headers: ["Transfer-Encoding": "chunked"])
            return [head, .chunk(chunk)] + gates.flatMap { [.wait($0), .chunk(chunk)] } + [.chunk([])]
        }
        let downloader = Downloader()
        let stream = try await downloader.stream(FetchRequest(url: server.url + "/a"), priority: .low)
        var chunks = stream.makeAsyncIterator()
        #expect(try await chunks.next()?.count == chunk.count)
        for gate in gates {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        for _ in 0..<20 {
                            downloader.beginInteraction()
                            downloader.endInteraction()
                        }
                    }
                }
            }
            gate.open()
            // If the engine took an old message for the newest, no chunk would follow.
            #expect(try await chunks.next()?.count == chunk.count)
        }
    }

    @Test("L22 while the user scrolls, an active low-priority download receives no bytes; it continues afterwards")
    func pauses() async throws {
        let png = try TestImage.png(width: 300, height: 300), sent = Gate(), proceed = Gate()
        let first = Array(png.prefix(10_000)), remaining = Array(png.dropFirst(10_000))
        let server = try ScriptedOrigin { request in
            guard request.path == "/slow" else { return [.response(200, headers: [:], body: png)] }
            let head = ScriptedOrigin.Step.head(200, headers: ["Content-Length": "\(png.count)"])
            return [head, .send(first), .wait(proceed), .send(remaining), .open(sent)]
        }
        let pipeline = ImagePipeline(.init()), received = Guarded(0)
        let request = ImageRequest(server.url + "/slow", priority: .low)
        let task = Task {
            for await event in pipeline.task(for: request).events {
                if case .progress(let progress) = event { received.withLock { $0 = progress.received } }
                if case .finished(let response) = event { return response.byteCount.bytes }
            }
            return 0
        }
        try await eventually("received bytes", is: 10_000) { received.withLock { $0 } }
        pipeline.isUserInteracting = true
        // The engine runs its commands in their order: after another download, this one is paused.
        _ = try await pipeline.image(for: ImageRequest("\(server.url)/first"))
        proceed.open()
        // Other downloads continue, so the engine has polled its connections many times meanwhile.
        for index in 0..<20 { _ = try await pipeline.image(for: ImageRequest("\(server.url)/\(index)")) }
        #expect(received.withLock { $0 } == 10_000)
        pipeline.isUserInteracting = false
        #expect(await task.value == png.count)
    }
}
