import Eidetic
import EideticTestSupport
import Testing

@Suite("Revalidation", .timeLimit(.minutes(2)), .enabled(if: Nginx.isInstalled, "nginx is not installed"))
struct RefreshTests {
    /// What a load told, in short.
    private func events(_ pipeline: ImagePipeline, _ request: ImageRequest) async -> [String] {
        var events: [String] = []
        for await event in pipeline.events(for: request) {
            switch event {
            case .progress: break
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
        let fixture = try await Fixture()
        let request = try fixture.put(options: [.refreshCached, .waitStoreCache])
        #expect(await events(fixture.pipeline, request) == ["finished 64x48"])
        #expect(await events(fixture.pipeline, request) == ["cached 64x48", "unchanged 64x48"])
        #expect(await events(try fixture.nextRun(), request) == ["cached 64x48", "unchanged 64x48"])
        #expect(try await fixture.server.requests().filter { $0.path == "/a.png" }.map(\.status) == [200, 304, 304])
    }

    @Test("L11 a changed picture: the cached one, then the new one, which replaces it in memory and on disk")
    func changed() async throws {
        let fixture = try await Fixture()
        let request = try fixture.put(options: [.refreshCached, .waitStoreCache])
        _ = try await fixture.pipeline.image(for: request)
        try fixture.server.put(try Picture.png(width: 20, height: 10), at: "a.png")
        #expect(await events(fixture.pipeline, request) == ["cached 64x48", "changed 20x10"])
        #expect(fixture.pipeline.cachedImage(for: request)?.size == PixelSize(width: 20, height: 10))
        let plain = request.with(options: .fromCacheOnly)
        #expect(try await fixture.nextRun().image(for: plain).size == PixelSize(width: 20, height: 10))
    }

    @Test("L11 a server that cannot be asked: the cached picture stays, and the answer says why")
    func unreachable() async throws {
        let fixture = try await Fixture()
        let request = try fixture.put(options: [.refreshCached, .waitStoreCache])
        _ = try await fixture.pipeline.image(for: request)
        await fixture.server.stop()
        #expect(await events(fixture.pipeline, request) == ["cached 64x48", "kept 64x48 connectionRefused"])
    }

    @Test("C20 what the server forbids to store is not on disk")
    func noStore() async throws {
        let fixture = try await Fixture(.init(server: "add_header Cache-Control \"private, No-Store\";"))
        let request = try fixture.put(options: .waitStoreCache)
        _ = try await fixture.pipeline.image(for: request)
        #expect(try await fixture.nextRun().response(for: request).source == .network)
    }
}
