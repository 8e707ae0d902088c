import Eidetic
import EideticTestSupport
import Testing

@Suite("Progress of prefetches", .timeLimit(.minutes(1)), .enabled(if: Nginx.isInstalled, "nginx is not installed"))
struct PrefetchProgressTests {
    @Test(
        "L19 images that are at the destination count as skipped, and nothing is loaded",
        arguments: [ImagePrefetcher.Destination.memory, .disk]
    )
    func skips(_ destination: ImagePrefetcher.Destination) async throws {
        let fixture = try await PipelineFixture()
        let requests = try (0..<3).map { try fixture.serve("\($0).png") }
        let prefetcher = ImagePrefetcher(pipeline: fixture.pipeline, destination: destination)
        #expect(await prefetcher.prefetch([requests[0]]).finish() == .init(finished: 1, total: 1))
        let missing = ImageRequest(fixture.server.url + "/missing.png")
        let progress = await prefetcher.prefetch(requests + [missing]).finish()
        #expect(progress == .init(finished: 4, failed: 1, skipped: 1, total: 4))
        #expect(try await fixture.server.requestCount(for: "/0.png") == 1)
        // What is on disk is not in memory.
        let toMemory = ImagePrefetcher(pipeline: fixture.pipeline).prefetch(requests)
        #expect(await toMemory.finish().skipped == (destination == .memory ? 3 : 0))
    }

    @Test("L19 to memory: an image that is revalidated is not skipped")
    func revalidates() async throws {
        let fixture = try await PipelineFixture(), request = try fixture.serve()
        _ = try await fixture.pipeline.image(for: request)
        let prefetcher = ImagePrefetcher(pipeline: fixture.pipeline)
        let group = prefetcher.prefetch([request.with(options: .refreshCached)])
        #expect(await group.finish() == .init(finished: 1, total: 1))
    }
}
