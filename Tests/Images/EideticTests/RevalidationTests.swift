import Eidetic
import EideticTestSupport
import EideticViews
import Testing

@Suite("Revalidation", .timeLimit(.minutes(2)), .enabled(if: Nginx.isInstalled, "nginx is not installed"))
struct RevalidationTests {
    /// The events of a load as short texts.
    private func events(of request: ImageRequest, in pipeline: ImagePipeline) async -> [String] {
        var events: [String] = []
        for await event in pipeline.task(for: request).events {
            switch event {
            case .progress, .preview: break
            case .cached(let response): events.append("cached \(response.image.size)")
            case .failed(let error): events.append("failed \(error.code)")
            case .finished(let response):
                switch response.revalidation {
                case .unchanged: events.append("unchanged \(response.image.size)")
                case .changed: events.append("changed \(response.image.size)")
                case .failed(let error): events.append("kept \(response.image.size) \(error.code)")
                case nil: events.append("finished \(response.image.size)")
                }
            }
        }
        return events
    }

    @Test("L11 C20 an unchanged image: the cached one, a conditional request, status 304, and no second image")
    func unchanged() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(options: .refreshCached, cachePolicy: .afterStorage)
        #expect(await events(of: request, in: fixture.pipeline) == ["finished 64x48"])
        #expect(await events(of: request, in: fixture.pipeline) == ["cached 64x48", "unchanged 64x48"])
        #expect(await events(of: request, in: try fixture.nextRun()) == ["cached 64x48", "unchanged 64x48"])
        #expect(try await fixture.server.requests().filter { $0.path == "/a.png" }.map(\.status) == [200, 304, 304])
    }

    @Test("L11 a changed image: the cached one, then the new one, which replaces it in memory and on disk")
    func changed() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(options: .refreshCached, cachePolicy: .afterStorage)
        _ = try await fixture.pipeline.image(for: request)
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        #expect(await events(of: request, in: fixture.pipeline) == ["cached 64x48", "changed 20x10"])
        #expect(fixture.pipeline.cachedImage(for: request)?.size == PixelSize(width: 20, height: 10))
        let plain = request.with(options: [], cachePolicy: .cachedOnly)
        #expect(try await fixture.nextRun().image(for: plain).size == PixelSize(width: 20, height: 10))
    }

    @Test("L11 a server that cannot be reached: the cached image stays, and the response has the error")
    func unreachable() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(options: .refreshCached, cachePolicy: .afterStorage)
        _ = try await fixture.pipeline.image(for: request)
        await fixture.server.stop()
        #expect(await events(of: request, in: fixture.pipeline) == ["cached 64x48", "kept 64x48 connectionRefused"])
    }

    @Test("L11 after another process refreshed the disk, the old image in memory is found to have changed")
    func otherRun() async throws {
        let fixture = try await PipelineFixture(), other = try fixture.nextRun()
        let request = try fixture.serve(options: .refreshCached, cachePolicy: .afterStorage)
        _ = try await (fixture.pipeline.image(for: request), other.image(for: request))
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        #expect(await events(of: request, in: fixture.pipeline) == ["cached 64x48", "changed 20x10"])
        #expect(await events(of: request, in: other) == ["cached 64x48", "changed 20x10"])
        #expect(await events(of: request, in: other) == ["cached 20x10", "unchanged 20x10"])
    }

    @Test("L11 after another rendition was refreshed, the cached image is made from the new bytes")
    func otherSize() async throws {
        let fixture = try await PipelineFixture()
        let full = try fixture.serve(options: .refreshCached, cachePolicy: .afterStorage)
        let other = full.with(rendering: .init(transform: TransformChain([])))
        _ = try await (fixture.pipeline.image(for: full), fixture.pipeline.image(for: other))
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        #expect(await events(of: full, in: fixture.pipeline) == ["cached 64x48", "changed 20x10"])
        #expect(await events(of: other, in: fixture.pipeline) == ["cached 20x10", "unchanged 20x10"])
    }

    @Test("L11 C02 an image that is displayed while memory is emptied still counts as unchanged")
    func shownAndEmptied() async throws {
        let fixture = try await PipelineFixture(), pipeline = fixture.pipeline
        let request = try fixture.serve(options: .refreshCached, cachePolicy: .afterStorage)
        let shown = try await pipeline.image(for: request)
        pipeline.cache.memory.enterBackground(behavior: .removeAll)
        #expect(await events(of: request, in: pipeline) == ["cached 64x48", "unchanged 64x48"])
        #expect(try await pipeline.response(for: request.with(options: [])).byteCount == shown.encodedSize)
        #expect(shown.pixels.size.width == 64)
    }

    @Test("L11 without a disk cache an unchanged body causes no second image")
    func withoutDisk() async throws {
        let fixture = try await PipelineFixture(), pipeline = ImagePipeline(.init())
        let request = try fixture.serve(options: .refreshCached)
        _ = try await pipeline.image(for: request)
        #expect(await events(of: request, in: pipeline) == ["cached 64x48", "unchanged 64x48"])
    }

    @Test("L26 saved bytes were not transferred: counted with status 304, and not if the same body is sent again")
    func savedBytes() async throws {
        let png = try TestImage.png(width: 8, height: 6)
        let server = try ScriptedOrigin { request in
            request.headers["if-none-match"] == nil
                ? [.response(200, headers: request.path == "/tag" ? ["ETag": "\"1\""] : [:], body: png)]
                : [.response(304)]
        }
        let directory = try TemporaryDirectory(named: "saved")
        for (path, saved) in [("tag", png.count), ("plain", 0)] {
            let disk = try DiskCache(.init(directory: directory.path(of: path)))
            let pipeline = ImagePipeline(.init(diskCache: disk))
            let request = ImageRequest("\(server.url)/\(path)", options: .refreshCached, cachePolicy: .afterStorage)
            #expect(await events(of: request, in: pipeline) == ["finished 8x6"])
            #expect(await events(of: request, in: pipeline) == ["cached 8x6", "unchanged 8x6"])
            #expect(pipeline.statistics.savedBytes == saved)
        }
    }

    @Test("L26 L11 the trace of a failed revalidation has the error")
    func failedRecord() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(options: .refreshCached, cachePolicy: .afterStorage)
        _ = try await fixture.pipeline.image(for: request)
        await fixture.server.stop()
        let steps = try await fixture.pipeline.response(for: request).trace.steps
        #expect(steps.map(\.stage) == [.memory, .network])
        #expect(steps.last?.detail.hasPrefix("failed: connectionRefused") == true)
    }

    @Test("L06 cachedOnly contacts no server, also with refreshCached")
    func fromCacheOnly() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(cachePolicy: .afterStorage)
        _ = try await fixture.pipeline.image(for: request)
        let offline = request.with(options: .refreshCached, cachePolicy: .cachedOnly)
        #expect(await events(of: offline, in: fixture.pipeline) == ["finished 64x48"])
        #expect(try await fixture.server.requestCount(for: "/a.png") == 1)
    }

    @Test("C20 a response with no-store is not on disk")
    func noStore() async throws {
        let fixture = try await PipelineFixture(.init(server: "add_header Cache-Control \"private, No-Store\";"))
        let request = try fixture.serve(cachePolicy: .afterStorage)
        _ = try await fixture.pipeline.image(for: request)
        #expect(try await fixture.nextRun().response(for: request).source == .network)
    }

    /// A pipeline with HTTP freshness over the fixture's directory.
    private func makePipeline(for fixture: PipelineFixture) throws -> ImagePipeline {
        let disk = try DiskCache(DiskCache.Configuration(directory: fixture.directory.path(of: "cache")))
        var configuration = ImagePipeline.Configuration(diskCache: disk)
        configuration.freshness = .http
        return ImagePipeline(configuration)
    }

    /// The statuses of the responses for the image.
    private func statuses(in fixture: PipelineFixture) async throws -> [Int] {
        try await fixture.server.requests().filter { $0.path == "/a.png" }.map(\.status)
    }

    @Test("C20 a fresh entry is used without a request: Cache-Control max-age")
    func fresh() async throws {
        let fixture = try await PipelineFixture(.init(server: "add_header Cache-Control max-age=3600;"))
        let request = try fixture.serve(cachePolicy: .afterStorage)
        _ = try await makePipeline(for: fixture).image(for: request)
        #expect(try await makePipeline(for: fixture).response(for: request).source == .disk)
        #expect(try await statuses(in: fixture) == [200])
    }

    @Test("C20 a stale entry is revalidated before it is used, in this run and the next: 304 each time")
    func stale() async throws {
        let fixture = try await PipelineFixture(.init(server: "add_header Cache-Control no-cache;"))
        let request = try fixture.serve(cachePolicy: .afterStorage), pipeline = try makePipeline(for: fixture)
        _ = try await pipeline.image(for: request)
        #expect(try await pipeline.response(for: request).source == .disk)
        #expect(try await self.makePipeline(for: fixture).response(for: request).source == .disk)
        #expect(try await statuses(in: fixture) == [200, 304, 304])
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        let changed = try await pipeline.response(for: request)
        #expect(changed.source == .network)
        #expect(changed.image.size == PixelSize(width: 20, height: 10))
    }

    @Test("C20 a confirmed entry is fresh again for the time that the server says, in the next run too")
    func confirmed() async throws {
        let png = try TestImage.png(width: 8, height: 6)
        let server = try ScriptedOrigin { request in
            request.headers["if-none-match"] == nil
                ? [.response(200, headers: ["ETag": "\"1\"", "Cache-Control": "no-cache"], body: png)]
                : [.response(304, headers: ["ETag": "\"1\"", "Cache-Control": "max-age=3600"], body: [])]
        }
        let fixture = try await PipelineFixture(),
            request = ImageRequest(server.url + "/a", cachePolicy: .afterStorage)
        for _ in 0..<4 { #expect(try await makePipeline(for: fixture).image(for: request).size.width == 8) }
        #expect(server.requests.count == 2)
    }

    @Test("C20 stale-while-revalidate delivers the stale image at once, and revalidates it once")
    func staleWhileRevalidate() async throws {
        let server = "add_header Cache-Control \"max-age=0, stale-while-revalidate=600\";"
        let fixture = try await PipelineFixture(.init(server: server))
        let request = try fixture.serve(cachePolicy: .afterStorage)
        _ = try await makePipeline(for: fixture).image(for: request)
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        let second = try makePipeline(for: fixture)
        #expect(try await second.image(for: request).size == PixelSize(width: 64, height: 48))
        try await eventually("statuses", is: [200, 200]) { try await statuses(in: fixture) }
        try await eventually("the pipeline is idle") { second.isIdle }
        let next = request.with(options: [], cachePolicy: .cachedOnly)
        #expect(try await makePipeline(for: fixture).image(for: next).size == PixelSize(width: 20, height: 10))
    }

    @Test("C20 stale-if-error delivers the stale image if the server fails; without it the load fails")
    func staleIfError() async throws {
        for (control, isServed) in [("max-age=0, stale-if-error=600", true), ("max-age=0, must-revalidate", false)] {
            let fixture = try await PipelineFixture(.init(server: "add_header Cache-Control \"\(control)\";"))
            let request = try fixture.serve(cachePolicy: .afterStorage)
            _ = try await makePipeline(for: fixture).image(for: request)
            await fixture.server.stop()
            let response = try? await makePipeline(for: fixture).response(for: request)
            #expect((response?.source == .disk) == isServed)
        }
    }
}

extension RevalidationTests {
    /// The status and the number of bytes of each response for the image.
    private func exchanges(in fixture: PipelineFixture) async throws -> [[Int]] {
        try await fixture.server.requests().filter { $0.path == "/a.png" }.map { [$0.status, $0.bodyBytes] }
    }

    @Test("L11 C20 refreshCached: the exact requests, their bytes, and the images delivered")
    func exactRefresh() async throws {
        let fixture = try await PipelineFixture(), old = try TestImage.png(width: 64, height: 48).count
        let request = try fixture.serve(options: .refreshCached, cachePolicy: .afterStorage)
        var reported = await events(of: request, in: fixture.pipeline)
        reported += await events(of: request, in: fixture.pipeline)
        let png = try TestImage.png(width: 20, height: 10)
        try fixture.server.addFile(png, at: "a.png")
        for _ in 0..<2 { reported += await events(of: request, in: fixture.pipeline) }
        let expectedEvents = [
            "cached 64x48", "unchanged 64x48", "cached 64x48", "changed 20x10", "cached 20x10", "unchanged 20x10",
        ]
        #expect(reported == ["finished 64x48"] + expectedEvents)
        #expect(try await exchanges(in: fixture) == [[200, old], [304, 0], [200, png.count], [304, 0]])
        #expect(fixture.pipeline.statistics.stages[.decode]?.count == 2)
    }

    private func storedBytes(for request: ImageRequest, in fixture: PipelineFixture) throws -> [UInt8]? {
        try DiskCache(DiskCache.Configuration(directory: fixture.directory.path(of: "cache"))).blocking.read(
            request.name
        )?.bytes
    }

    @Test(
        "C20 stale-while-revalidate: the exact requests, their bytes, and the images delivered"
    )
    func exactStale() async throws {
        let control = "add_header Cache-Control \"max-age=0, stale-while-revalidate=600\";"
        let fixture = try await PipelineFixture(.init(server: control)),
            old = try TestImage.png(width: 64, height: 48).count
        let request = try fixture.serve(cachePolicy: .afterStorage), pipeline = try makePipeline(for: fixture)
        let png = try TestImage.png(width: 20, height: 10)
        var reported: [String] = [], expected = [[200, old]]
        func load() async throws {
            reported += await events(of: request, in: pipeline)
            try await eventually("number of exchanges", is: expected.count) { try await exchanges(in: fixture).count }
            try await eventually("the pipeline is idle") { pipeline.isIdle }
        }
        try await load()
        expected.append([304, 0])
        try await load()
        try fixture.server.addFile(png, at: "a.png")
        expected.append([200, png.count])
        try await load()
        #expect(try storedBytes(for: request, in: fixture) == png)
        expected.append([304, 0])
        try await load()
        #expect(reported == ["finished 64x48", "finished 64x48", "finished 64x48", "finished 20x10"])
        #expect(try await exchanges(in: fixture) == expected)
    }

    @Test(
        "L11 L13 a changed image: sizes and transforms made from the old bytes are removed from memory",
        arguments: [(.refreshCached, .standard), ([], .reload)] as [(ImageOptions, ImageRequest.CachePolicy)]
    )
    func renditions(replacedWith options: ImageOptions, policy: ImageRequest.CachePolicy) async throws {
        let fixture = try await PipelineFixture(), pipeline = fixture.pipeline
        let full = try fixture.serve(options: options, cachePolicy: policy.waiting)
        let plain = full.with(options: [], cachePolicy: .standard)
        let small = plain.with(rendering: .init(size: PixelSize(width: 8, height: 8)))
        let transformed = plain.with(rendering: .init(transform: CountingTransform(count: Counter())))
        let flags = plain.with(options: .scaleDownLargeImages)
        for request in [full, small, transformed, flags] { _ = try await pipeline.image(for: request) }
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        #expect(try await pipeline.image(for: full).size == PixelSize(width: 20, height: 10))
        for request in [small, transformed, flags] { #expect(pipeline.cachedImage(for: request) == nil) }
        #expect(try await pipeline.image(for: transformed).size == PixelSize(width: 20, height: 10))
    }

    @Test("L11 a changed image that cannot be decoded: the old one stays, in memory and on disk")
    func brokenChange() async throws {
        let fixture = try await PipelineFixture(), pipeline = fixture.pipeline
        let request = try fixture.serve(options: .refreshCached, cachePolicy: .afterStorage)
        _ = try await pipeline.image(for: request)
        let broken = try TestImage.png(width: 20, height: 10)
        try fixture.server.addFile(Array(broken.prefix(60)), at: "a.png")
        let response = try await pipeline.response(for: request)
        guard case .failed? = response.revalidation else { Issue.record("not failed"); return }
        #expect(response.image.size == PixelSize(width: 64, height: 48))
        #expect(pipeline.cachedImage(for: request)?.size == PixelSize(width: 64, height: 48))
        let offline = request.with(options: [], cachePolicy: .cachedOnly)
        #expect(try await fixture.nextRun().image(for: offline).size == PixelSize(width: 64, height: 48))
    }

    @Test(
        "L06 L11 matchAnimatedImage: a cached still image counts as a miss, and a new still image is not delivered"
    )
    func animated() async throws {
        let fixture = try await PipelineFixture(), stillImage = try TestImage.png(width: 20, height: 10)
        let request = try fixture.serve(options: .preloadAllFrames, cachePolicy: .afterStorage)
        let animated = request.with(options: [.refreshCached, .matchAnimatedImage], cachePolicy: .afterStorage)
        _ = try await fixture.pipeline.image(for: request)
        try fixture.server.addFile(TestImage.animatedGIF, at: "a.png")
        #expect(await events(of: animated, in: fixture.pipeline) == ["finished 1x1"])
        #expect(await events(of: animated, in: fixture.pipeline) == ["cached 1x1", "unchanged 1x1"])
        try fixture.server.addFile(stillImage, at: "a.png")
        #expect(await events(of: animated, in: fixture.pipeline) == ["cached 1x1", "kept 1x1 unsupportedFormat"])
        try await eventually("the pipeline is idle") { fixture.pipeline.isIdle }
        #expect(await events(of: animated, in: try fixture.nextRun()) == ["failed unsupportedFormat"])
    }

    @Test(
        "L11 L06 an unchanged image that the disk has lost is stored again, if it waits for storage before the response"
    )
    func storedAgain() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(options: .refreshCached, cachePolicy: .afterStorage)
        _ = try await fixture.pipeline.image(for: request)
        try #require(fixture.pipeline.configuration.diskCache).blocking.removeAll()
        let response = try await fixture.pipeline.response(for: request)
        guard case .unchanged = response.revalidation else { Issue.record("\(response)"); return }
        #expect(try await DiskCache(.init(directory: fixture.directory.path(of: "cache"))).contains(request.name))
    }

    @Test(
        "L06 L11 L14 a slot shows a confirmed image once, a changed one after the cached one, and completes once with it"
    )
    @MainActor
    func slot() async throws {
        let fixture = try await PipelineFixture(), display = RecordingDisplay()
        let request = try fixture.serve(options: .refreshCached, cachePolicy: .afterStorage)
        _ = try await fixture.pipeline.image(for: request)
        let slot = ImageSlot(display: display, pipeline: fixture.pipeline, gate: DisplayGate())
        var results: [PixelSize?] = []
        slot.load(request) { results.append(try? $0.get().image.size) }
        try await eventually("the load has ended, and the pipeline is idle") {
            !results.isEmpty && fixture.pipeline.isIdle
        }
        let old = RecordingDisplay.Shown.image(PixelSize(width: 64, height: 48), hasTransition: false)
        #expect(display.images == [old])
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        slot.load(request) { results.append(try? $0.get().image.size) }
        try await eventually("two results, three images, and the pipeline is idle") {
            results.count >= 2 && display.images.count >= 3 && fixture.pipeline.isIdle
        }
        #expect(display.images == [old, old, .image(PixelSize(width: 20, height: 10), hasTransition: false)])
        // Another load's completion, after which an earlier load's second completion would have come.
        slot.load(request.with(options: [])) { results.append(try? $0.get().image.size) }
        let new = PixelSize(width: 20, height: 10)
        #expect(results == [PixelSize(width: 64, height: 48), new, new])
    }
}
