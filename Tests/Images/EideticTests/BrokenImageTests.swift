import Eidetic
import EideticCore
import EideticTestSupport
import Testing

@Suite("Broken images", .timeLimit(.minutes(2)))
struct BrokenImageTests {
    private func validImage() throws -> [UInt8] { try TestImage.png(width: 20, height: 10) }

    /// The header of an image, and few of the other bytes.
    private func brokenImage() throws -> [UInt8] { Array(try TestImage.png(width: 64, height: 48).prefix(60)) }

    private func makeServer(sending bytes: [UInt8]) throws -> ScriptedOrigin {
        try ScriptedOrigin { _ in [.response(200, headers: [:], body: bytes)] }
    }

    /// The error codes of loads, made one after the other; `nil` for a success.
    private func failures(of requests: [ImageRequest], in pipeline: ImagePipeline) async -> [EideticError.Code?] {
        var codes: [EideticError.Code?] = []
        for request in requests {
            do throws(EideticError) {
                _ = try await pipeline.image(for: request)
                codes.append(nil)
            } catch {
                codes.append(error.code)
            }
        }
        return codes
    }

    @Test("L07 a server whose response is not an image, or too large, is not queried again until retryFailed")
    func notRequestedAgain() async throws {
        let server = try makeServer(sending: try brokenImage()), request = ImageRequest(server.url + "/a")
        let retrying = request.with(options: .retryFailed)
        let codes = await failures(of: [request, request, retrying], in: .init(.init()))
        #expect(codes == [.truncated, .truncated, .truncated])
        #expect(server.requests.count == 2)
        var configuration = ImagePipeline.Configuration()
        configuration.decodeLimits.pixels = 100
        let largeServer = try self.makeServer(sending: try validImage()), pipeline = ImagePipeline(configuration)
        let largeRequest = ImageRequest(largeServer.url + "/a")
        #expect(await failures(of: [largeRequest, largeRequest], in: pipeline) == [.limitExceeded, .limitExceeded])
        #expect(largeServer.requests.count == 1)
    }

    @Test("L07 a failure that depends on the options of one request does not block another")
    func requestSpecificFailures() async throws {
        var configuration = ImagePipeline.Configuration()
        configuration.decodeLimits.animationBytes = ByteCount(1)
        let server = try makeServer(sending: TestImage.animatedGIF), request = ImageRequest(server.url + "/a")
        let allFrames = request.with(options: .preloadAllFrames)
        #expect(await failures(of: [allFrames, request], in: ImagePipeline(configuration)) == [.limitExceeded, nil])
    }

    @Test("L07 the same if a hook changes each request, and if the request has conditions", .needsNginx)
    func changedRequests() async throws {
        let server = try makeServer(sending: try brokenImage()), count = Counter()
        var downloads = ImagePipeline.Configuration().downloads
        downloads.requestModifier = { request in
            var request = request
            count.increment()
            request.headers["X-Time"] = "\(count.value)"
            return request
        }
        let pipeline = ImagePipeline(.init(downloader: Downloader(downloads)))
        let request = ImageRequest(server.url + "/a")
        #expect(await failures(of: [request, request], in: pipeline) == [.truncated, .truncated])
        #expect(server.requests.count == 1)
        let fixture = try await PipelineFixture(),
            revalidating = try fixture.serve(options: .refreshCached, cachePolicy: .afterStorage)
        _ = try await fixture.pipeline.image(for: revalidating)
        try fixture.server.addFile(try brokenImage(), at: "a.png")
        for _ in 0..<3 { _ = try await fixture.pipeline.image(for: revalidating) }
        #expect(try await fixture.server.requests().filter { $0.path == "/a.png" }.map(\.status) == [200, 200])
    }

    @Test("C04 C18 a broken file in a bundle, which cannot be removed, does not keep the image from being loaded")
    func bundle() async throws {
        let server = try makeServer(sending: try validImage()), request = ImageRequest(server.url + "/a.png")
        let directory = try TemporaryDirectory(named: "bundle")
        try directory.write(try brokenImage(), to: "bundle/\(MD5.hexadecimal(Array(request.name.utf8))).png")
        var disk = DiskCache.Configuration(directory: directory.path(of: "cache"))
        disk.bundles = [ImageBundle(directory: directory.path(of: "bundle"))]
        let pipeline = ImagePipeline(.init(diskCache: try DiskCache(disk)))
        let offline = request.with(options: [], cachePolicy: .cachedOnly)
        #expect(await failures(of: [offline, request, request], in: pipeline) == [.cacheMiss, nil, nil])
        #expect(server.requests.count == 1)
    }

    @Test("C04 C20 the broken entry of a redirect's target, which cannot be removed, does not keep an image away")
    func redirectTarget() async throws {
        let (valid, broken) = (try validImage(), try brokenImage()), isBroken = Guarded(true)
        let server = try ScriptedOrigin { request in
            if request.path == "/a" { return [.response(302, headers: ["Location": "/b"], body: [])] }
            let body = isBroken.withLock { $0 } ? broken : valid
            return [.response(200, headers: ["Cache-Control": "max-age=3600"], body: body)]
        }
        let directory = try TemporaryDirectory(named: "target")
        var disk = DiskCache.Configuration(directory: directory.path)
        var configuration = ImagePipeline.Configuration()
        configuration.freshness = .http
        configuration.diskCache = try DiskCache(disk)
        // Of what goes to disk alone only the header is read.
        let prefetcher = ImagePrefetcher(pipeline: ImagePipeline(configuration), destination: .disk)
        let progress = await prefetcher.prefetch([ImageRequest(server.url + "/b")]).finish()
        #expect(progress.failed == 0)
        isBroken.withLock { $0 = false }
        disk.isReadOnly = true
        configuration.diskCache = try DiskCache(disk)
        let image = try await ImagePipeline(configuration).image(for: ImageRequest(server.url + "/a"))
        #expect(image.size == PixelSize(width: 20, height: 10))
        #expect(server.requests.map(\.path) == ["/b", "/a", "/a", "/b"])
    }
}
