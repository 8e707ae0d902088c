import Eidetic
import EideticTestSupport
import Testing

@Suite("Revalidation", .timeLimit(.minutes(2)), .enabled(if: Nginx.isInstalled, "nginx is not installed"))
struct RevalidationTests {
    /// What a load told, in short.
    private func events(of pipeline: ImagePipeline, in request: ImageRequest) async -> [String] {
        var events: [String] = []
        for await event in pipeline.events(for: request) {
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

    @Test("L11 C20 an unchanged picture: the cached one, a conditional request, status 304, and no second picture")
    func unchanged() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.put(options: [.refreshCached, .waitStoreCache])
        #expect(await events(fixture.pipeline, request) == ["finished 64x48"])
        #expect(await events(fixture.pipeline, request) == ["cached 64x48", "unchanged 64x48"])
        #expect(await events(try fixture.nextRun(), request) == ["cached 64x48", "unchanged 64x48"])
        #expect(try await fixture.server.requests().filter { $0.path == "/a.png" }.map(\.status) == [200, 304, 304])
    }

    @Test("L11 a changed picture: the cached one, then the new one, which replaces it in memory and on disk")
    func changed() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.put(options: [.refreshCached, .waitStoreCache])
        _ = try await fixture.pipeline.image(for: request)
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        #expect(await events(fixture.pipeline, request) == ["cached 64x48", "changed 20x10"])
        #expect(fixture.pipeline.cachedImage(for: request)?.size == PixelSize(width: 20, height: 10))
        let plain = request.with(options: .fromCacheOnly)
        #expect(try await fixture.nextRun().image(for: plain).size == PixelSize(width: 20, height: 10))
    }

    @Test("L11 a server that cannot be asked: the cached picture stays, and the answer says why")
    func unreachable() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.put(options: [.refreshCached, .waitStoreCache])
        _ = try await fixture.pipeline.image(for: request)
        await fixture.server.stop()
        #expect(await events(fixture.pipeline, request) == ["cached 64x48", "kept 64x48 connectionRefused"])
    }

    @Test("L11 somebody else refreshed the disk before: the old picture in memory is found to have changed")
    func otherRun() async throws {
        let fixture = try await PipelineFixture(), other = try fixture.nextRun()
        let request = try fixture.put(options: [.refreshCached, .waitStoreCache])
        _ = try await (fixture.pipeline.image(for: request), other.image(for: request))
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        #expect(await events(fixture.pipeline, request) == ["cached 64x48", "changed 20x10"])
        #expect(await events(other, request) == ["cached 64x48", "changed 20x10"])
        #expect(await events(other, request) == ["cached 20x10", "unchanged 20x10"])
    }

    @Test("L11 another size was refreshed before: it is seen at once, made of the new bytes")
    func otherSize() async throws {
        let fixture = try await PipelineFixture()
        let full = try fixture.put(options: [.refreshCached, .waitStoreCache])
        let other = full.with(rendering: .init(transform: TransformChain([])))
        _ = try await (fixture.pipeline.image(for: full), fixture.pipeline.image(for: other))
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        #expect(await events(fixture.pipeline, full) == ["cached 64x48", "changed 20x10"])
        #expect(await events(fixture.pipeline, other) == ["cached 20x10", "unchanged 20x10"])
    }

    @Test("L11 C02 a picture that is shown while memory is emptied is still known to be the server's: no second one")
    func shownAndEmptied() async throws {
        let fixture = try await PipelineFixture(), pipeline = fixture.pipeline
        let request = try fixture.put(options: [.refreshCached, .waitStoreCache])
        let shown = try await pipeline.image(for: request)
        pipeline.cache.memory.enterBackground(behavior: .removeAll)
        #expect(await events(pipeline, request) == ["cached 64x48", "unchanged 64x48"])
        #expect(try await pipeline.response(for: request.with(options: [])).byteCount == shown.encodedSize)
        #expect(shown.pixels.size.width == 64)
    }

    @Test("L11 without a disk cache an unchanged body is no second picture")
    func withoutDisk() async throws {
        let fixture = try await PipelineFixture(), pipeline = ImagePipeline(.init())
        let request = try fixture.put(options: .refreshCached)
        _ = try await pipeline.image(for: request)
        #expect(await events(pipeline, request) == ["cached 64x48", "unchanged 64x48"])
    }

    @Test("L26 saved bytes are those that the network did not bring: with 304, and not with the same body again")
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
            let request = try ImageRequest("\(server.url)/\(path)", options: [.refreshCached, .waitStoreCache])
            #expect(await events(pipeline, request) == ["finished 8x6"])
            #expect(await events(pipeline, request) == ["cached 8x6", "unchanged 8x6"])
            #expect(pipeline.statistics.savedBytes == saved)
        }
    }

    @Test("L26 L11 the record of a refresh that failed says why")
    func failedRecord() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.put(options: [.refreshCached, .waitStoreCache])
        _ = try await fixture.pipeline.image(for: request)
        await fixture.server.stop()
        let steps = try await fixture.pipeline.response(for: request).trace.steps
        #expect(steps.map(\.stage) == [.memory, .network])
        #expect(steps.last?.detail.hasPrefix("failed: connectionRefused") == true)
    }

    @Test("L06 fromCacheOnly asks no server, also with refreshCached")
    func fromCacheOnly() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.put(options: .waitStoreCache)
        _ = try await fixture.pipeline.image(for: request)
        let offline = request.with(options: [.refreshCached, .fromCacheOnly])
        #expect(await events(fixture.pipeline, offline) == ["finished 64x48"])
        #expect(try await fixture.server.requestCount(for: "/a.png") == 1)
    }

    @Test("C20 what the server forbids to store is not on disk")
    func noStore() async throws {
        let fixture = try await PipelineFixture(.init(server: "add_header Cache-Control \"private, No-Store\";"))
        let request = try fixture.put(options: .waitStoreCache)
        _ = try await fixture.pipeline.image(for: request)
        #expect(try await fixture.nextRun().response(for: request).source == .network)
    }

    /// A pipeline that asks the server as RFC 9111 says, over the fixture's directory.
    private func makePipeline(for fixture: PipelineFixture) throws -> ImagePipeline {
        let disk = try DiskCache(DiskCache.Configuration(directory: fixture.directory.path(of: "cache")))
        var configuration = ImagePipeline.Configuration(diskCache: disk)
        configuration.freshness = .http()
        return ImagePipeline(configuration)
    }

    /// The statuses with which the server answered for a picture.
    private func statuses(in fixture: PipelineFixture) async throws -> [Int] {
        try await fixture.server.requests().filter { $0.path == "/a.png" }.map(\.status)
    }

    @Test("C20 a fresh entry is served without asking: Cache-Control max-age")
    func fresh() async throws {
        let fixture = try await PipelineFixture(.init(server: "add_header Cache-Control max-age=3600;"))
        let request = try fixture.put(options: .waitStoreCache)
        _ = try await pipeline(fixture).image(for: request)
        #expect(try await pipeline(fixture).response(for: request).source == .disk)
        #expect(try await statuses(in: fixture) == [200])
    }

    @Test("C20 a stale entry is revalidated before it is served, in this run and the next: 304 each time")
    func stale() async throws {
        let fixture = try await PipelineFixture(.init(server: "add_header Cache-Control no-cache;"))
        let request = try fixture.put(options: .waitStoreCache), pipeline = try pipeline(fixture)
        _ = try await pipeline.image(for: request)
        #expect(try await pipeline.response(for: request).source == .disk)
        #expect(try await self.pipeline(fixture).response(for: request).source == .disk)
        #expect(try await statuses(in: fixture) == [200, 304, 304])
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        let changed = try await pipeline.response(for: request)
        #expect(changed.source == .network)
        #expect(changed.image.size == PixelSize(width: 20, height: 10))
    }

    @Test("C20 what the server has confirmed is fresh again for as long as it says, in the next run too")
    func confirmed() async throws {
        let png = try TestImage.png(width: 8, height: 6)
        let server = try ScriptedOrigin { request in
            request.headers["if-none-match"] == nil
                ? [.response(200, headers: ["ETag": "\"1\"", "Cache-Control": "no-cache"], body: png)]
                : [.response(304, headers: ["ETag": "\"1\"", "Cache-Control": "max-age=3600"], body: [])]
        }
        let fixture = try await PipelineFixture(),
            request = try ImageRequest(server.url + "/a", options: .waitStoreCache)
        for _ in 0..<4 { #expect(try await pipeline(fixture).image(for: request).size.width == 8) }
        #expect(server.requests.count == 2)
    }

    @Test("L06 C20 queryDiskDataSync: what is to be revalidated is not delivered before the call returns")
    @MainActor
    func staleAtOnce() async throws {
        let server = "add_header Cache-Control \"max-age=0, stale-while-revalidate=600\";"
        let fixture = try await PipelineFixture(.init(server: server)), completions = Counter()
        let request = try fixture.put(options: .waitStoreCache), pipeline = try pipeline(fixture)
        _ = try await self.pipeline(fixture).image(for: request)
        let load = pipeline.load(request.with(options: .queryDiskDataSync)) { _ in completions.increment() }
        #expect(load.result == nil)
        await waitUntil { completions.value == 1 }
        while try await statuses(in: fixture) != [200, 304] { await Task.yield() }
    }

    @Test("C20 stale-while-revalidate serves the stale picture at once and asks once beside it")
    func staleWhileRevalidate() async throws {
        let server = "add_header Cache-Control \"max-age=0, stale-while-revalidate=600\";"
        let fixture = try await PipelineFixture(.init(server: server))
        let request = try fixture.put(options: .waitStoreCache)
        _ = try await pipeline(fixture).image(for: request)
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        let second = try pipeline(fixture)
        #expect(try await second.image(for: request).size == PixelSize(width: 64, height: 48))
        while try await statuses(in: fixture) != [200, 200] { await Task.yield() }
        await waitUntil { second.isIdle }
        let next = request.with(options: .fromCacheOnly)
        #expect(try await pipeline(fixture).image(for: next).size == PixelSize(width: 20, height: 10))
    }

    @Test("C20 stale-if-error serves the stale picture when the server fails, and without it the error is told")
    func staleIfError() async throws {
        for (control, isServed) in [("max-age=0, stale-if-error=600", true), ("max-age=0, must-revalidate", false)] {
            let fixture = try await PipelineFixture(.init(server: "add_header Cache-Control \"\(control)\";"))
            let request = try fixture.put(options: .waitStoreCache)
            _ = try await pipeline(fixture).image(for: request)
            await fixture.server.stop()
            let response = try? await pipeline(fixture).response(for: request)
            #expect((response?.source == .disk) == isServed)
        }
    }
}

extension RevalidationTests {
    /// The status and the bytes of each answer for the picture.
    private func exchanges(in fixture: PipelineFixture) async throws -> [[Int]] {
        try await fixture.server.requests().filter { $0.path == "/a.png" }.map { [$0.status, $0.bodyBytes] }
    }

    @Test("L11 C20 refreshCached makes exactly these requests, of so many bytes, and delivers exactly these pictures")
    func exactRefresh() async throws {
        let fixture = try await PipelineFixture(), old = try TestImage.png(width: 64, height: 48).count
        let request = try fixture.put(options: [.refreshCached, .waitStoreCache])
        var reported = await events(fixture.pipeline, request)
        reported += await events(fixture.pipeline, request)
        let png = try TestImage.png(width: 20, height: 10)
        try fixture.server.addFile(png, at: "a.png")
        for _ in 0..<2 { reported += await events(fixture.pipeline, request) }
        let expectedEvents = [
            "cached 64x48", "unchanged 64x48", "cached 64x48", "changed 20x10", "cached 20x10", "unchanged 20x10",
        ]
        #expect(reported == ["finished 64x48"] + expectedEvents)
        #expect(try await exchanges(in: fixture) == [[200, old], [304, 0], [200, png.count], [304, 0]])
        #expect(fixture.pipeline.statistics.stages[.decode]?.count == 2)
    }

    private func storedBytes(for fixture: PipelineFixture, in request: ImageRequest) throws -> [UInt8]? {
        try DiskCache(DiskCache.Configuration(directory: fixture.directory.path(of: "cache"))).read(request.name)?.bytes
    }

    @Test(
        "C20 stale-while-revalidate makes exactly these requests, of so many bytes, and delivers exactly these pictures"
    )
    func exactStale() async throws {
        let control = "add_header Cache-Control \"max-age=0, stale-while-revalidate=600\";"
        let fixture = try await PipelineFixture(.init(server: control)),
            old = try TestImage.png(width: 64, height: 48).count
        let request = try fixture.put(options: .waitStoreCache), pipeline = try pipeline(fixture)
        let png = try TestImage.png(width: 20, height: 10)
        var reported: [String] = [], expected = [[200, old]]
        func load() async throws {
            reported += await events(pipeline, request)
            while try await exchanges(in: fixture).count < expected.count { await Task.yield() }
            await waitUntil { pipeline.isIdle }
        }
        try await load()
        expected.append([304, 0])
        try await load()
        try fixture.server.addFile(png, at: "a.png")
        expected.append([200, png.count])
        try await load()
        #expect(try storedBytes(fixture, request) == png)
        expected.append([304, 0])
        try await load()
        #expect(reported == ["finished 64x48", "finished 64x48", "finished 64x48", "finished 20x10"])
        #expect(try await exchanges(in: fixture) == expected)
    }

    @Test(
        "L11 L13 a changed picture: sizes and transforms that were made of the old one go from memory with it",
        arguments: [ImageOptions.refreshCached, .fromLoaderOnly]
    )
    func renditions(replacedWith how: ImageOptions) async throws {
        let fixture = try await PipelineFixture(), pipeline = fixture.pipeline
        let full = try fixture.put(options: [how, .waitStoreCache])
        let small = full.with(rendering: .init(size: PixelSize(width: 8, height: 8)), options: [])
        let transformed = full.with(rendering: .init(transform: CountingTransform(count: Counter())), options: [])
        let flags = full.with(options: .scaleDownLargeImages)
        for request in [full, small, transformed, flags] { _ = try await pipeline.image(for: request) }
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        #expect(try await pipeline.image(for: full).size == PixelSize(width: 20, height: 10))
        for request in [small, transformed, flags] { #expect(pipeline.cachedImage(for: request) == nil) }
        #expect(try await pipeline.image(for: transformed).size == PixelSize(width: 20, height: 10))
    }

    @Test("L11 a changed picture that cannot be decoded: the old one stays, in memory and on disk")
    func brokenChange() async throws {
        let fixture = try await PipelineFixture(), pipeline = fixture.pipeline
        let request = try fixture.put(options: [.refreshCached, .waitStoreCache])
        _ = try await pipeline.image(for: request)
        let broken = try TestImage.png(width: 20, height: 10)
        try fixture.server.addFile(Array(broken.prefix(60)), at: "a.png")
        let response = try await pipeline.response(for: request)
        guard case .failed? = response.revalidation else { Issue.record("not failed"); return }
        #expect(response.image.size == PixelSize(width: 64, height: 48))
        #expect(pipeline.cachedImage(for: request)?.size == PixelSize(width: 64, height: 48))
        let offline = request.with(options: .fromCacheOnly)
        #expect(try await fixture.nextRun().image(for: offline).size == PixelSize(width: 64, height: 48))
    }

    @Test(
        "L06 L11 matchAnimatedImage: a cached picture that is none is no answer, and a new one that is none is not shown"
    )
    func animated() async throws {
        let fixture = try await PipelineFixture(), stillImage = try TestImage.png(width: 20, height: 10)
        let request = try fixture.put(options: [.preloadAllFrames, .waitStoreCache])
        let animated = request.with(options: [.refreshCached, .matchAnimatedImage, .waitStoreCache])
        _ = try await fixture.pipeline.image(for: request)
        try fixture.server.addFile(TestImage.animatedGIF, at: "a.png")
        #expect(await events(fixture.pipeline, animated) == ["finished 1x1"])
        #expect(await events(fixture.pipeline, animated) == ["cached 1x1", "unchanged 1x1"])
        try fixture.server.addFile(stillImage, at: "a.png")
        #expect(await events(fixture.pipeline, animated) == ["cached 1x1", "kept 1x1 unsupportedFormat"])
        await waitUntil { fixture.pipeline.isIdle }
        #expect(await events(try fixture.nextRun(), animated) == ["failed unsupportedFormat"])
    }

    @Test("L11 L06 an unchanged picture that the disk has lost is stored again, before the answer where that is asked")
    func storedAgain() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.put(options: [.refreshCached, .waitStoreCache])
        _ = try await fixture.pipeline.image(for: request)
        try #require(fixture.pipeline.configuration.diskCache).removeAll()
        let response = try await fixture.pipeline.response(for: request)
        guard case .unchanged = response.revalidation else { Issue.record("\(response)"); return }
        #expect(try DiskCache(.init(directory: fixture.directory.path(of: "cache"))).contains(request.name))
    }

    @Test("L11 L14 a slot shows a confirmed picture once, and a changed one after the cached one")
    @MainActor
    func slot() async throws {
        let fixture = try await PipelineFixture(), display = RecordingDisplay()
        let request = try fixture.put(options: [.refreshCached, .waitStoreCache])
        _ = try await fixture.pipeline.image(for: request)
        let slot = ImageSlot(display: display, pipeline: fixture.pipeline, gate: DisplayGate())
        let completions = Counter()
        slot.load(request) { _ in completions.increment() }
        await waitUntil { completions.value == 1 }
        let old = RecordingDisplay.Shown.image(PixelSize(width: 64, height: 48), hasTransition: false)
        #expect(display.images == [old])
        try fixture.server.addFile(try TestImage.png(width: 20, height: 10), at: "a.png")
        slot.load(request) { _ in completions.increment() }
        await waitUntil { completions.value == 2 }
        #expect(display.images == [old, old, .image(PixelSize(width: 20, height: 10), hasTransition: false)])
    }
}
