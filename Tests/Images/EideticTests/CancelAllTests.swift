import Eidetic
import EideticCore
import EideticFetch
import EideticTestSupport
import Testing

@Suite("Cancelling everything, and own URL schemes", .timeLimit(.minutes(2)), .needsNginx)
struct CancelAllTests {
    /// Waits for the end of loads that must be cancelled.
    private func codes(_ loads: [Task<ImageResponse, any Error>]) async -> [EideticError.Code?] {
        var codes: [EideticError.Code?] = []
        for load in loads {
            do { _ = try await load.value; codes.append(nil) } catch { codes.append((error as? EideticError)?.code) }
        }
        return codes
    }

    @Test("L04 a pipeline cancels all its loads; each caller gets cancelled, and later loads work")
    func pipeline() async throws {
        let fixture = try await PipelineFixture(.init(server: "location /slow/ { limit_rate 1; }")), count = 5
        let requests = try (0..<count).map { try fixture.serve("slow/\($0).png", width: 300, height: 300) }
        let pipeline = fixture.pipeline
        let loads = (requests + requests).map { request in Task { try await pipeline.response(for: request) } }
        try await eventually("\(count) jobs with two loads each") {
            pipeline.configuration.downloader.jobCount == count && pipeline.statistics.joined == count
        }
        pipeline.cancelAll()
        #expect(await codes(loads) == Array(repeating: .cancelled, count: 2 * count))
        #expect(pipeline.statistics.cancelled == 2 * count)
        try await eventually("pipeline and downloader are idle") {
            pipeline.isIdle && pipeline.configuration.downloader.jobCount == 0
        }
        #expect(try await pipeline.image(for: try fixture.serve("fast.png")).size.width == 64)
    }

    @Test("L04 a downloader cancels all its downloads, and later ones work")
    func downloader() async throws {
        let fixture = try await PipelineFixture(.init(server: "location /slow/ { limit_rate 1; }"))
        let downloader = Downloader(), slow = try fixture.serve("slow/a.png", width: 300, height: 300).name
        let request = try FetchRequest(url: slow)
        let download = Task { try await downloader.fetch(request) }
        try await eventually("number of jobs", is: 1) { downloader.jobCount }
        downloader.cancelAll()
        await #expect { try await download.value } throws: { ($0 as? EideticError)?.code == .cancelled }
        let fast = try FetchRequest(url: try fixture.serve("fast.png").name)
        #expect(try await downloader.fetch(fast).status == 200)
    }

    @Test("L05 a prefetcher cancels all its groups, and later ones work")
    func prefetcher() async throws {
        let fixture = try await PipelineFixture(.init(server: "location /slow/ { limit_rate 1; }"))
        let prefetcher = ImagePrefetcher(pipeline: fixture.pipeline)
        let requests = try (0..<6).map { try fixture.serve("slow/\($0).png", width: 300, height: 300) }
        let groups = [prefetcher.prefetch(Array(requests[..<3])), prefetcher.prefetch(Array(requests[3...]))]
        try await eventually("number of jobs", is: 3) { fixture.pipeline.configuration.downloader.jobCount }
        prefetcher.cancelAll()
        for group in groups { #expect(await group.finish() == .init(finished: 3, failed: 3, total: 3)) }
        #expect(await prefetcher.prefetch([try fixture.serve("fast.png")]).finish().failed == 0)
    }

    @Test("L27 a URL with a scheme of the user's own is loaded by the function registered for it, and cached")
    func scheme() async throws {
        let fixture = try await PipelineFixture(), calls = Counter()
        let png = try TestImage.png(width: 7, height: 5)
        var configuration = fixture.pipeline.configuration
        configuration.addSource(forScheme: "PHOTO") { url async throws(EideticError) in
            calls.increment()
            guard url == "Photo://album/1" else { throw EideticError(.fileFailure, message: "no \(url)") }
            return png
        }
        let request = ImageRequest("Photo://album/1", cachePolicy: .afterStorage)
        for _ in 0..<2 {
            let pipeline = ImagePipeline(configuration)
            for _ in 0..<2 { #expect(try await pipeline.image(for: request).size == PixelSize(width: 7, height: 5)) }
            #expect(pipeline.cachedImage(for: request) != nil)
        }
        #expect(calls.value == 1)
        let failures: [(String, EideticError.Code)] = [
            ("photo://album/2", .fileFailure), ("other://album/1", .invalidURL),
        ]
        for (url, code) in failures {
            await #expect { try await ImagePipeline(configuration).image(for: ImageRequest(url)) } throws: {
                ($0 as? EideticError)?.code == code
            }
        }
    }
}
