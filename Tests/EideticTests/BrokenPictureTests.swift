import Eidetic
import EideticTestSupport
import Testing

@Suite("Broken pictures", .timeLimit(.minutes(2)))
struct BrokenPictureTests {
    private func good() throws -> [UInt8] { try Picture.png(width: 20, height: 10) }

    /// The head of a picture, and little of the rest.
    private func broken() throws -> [UInt8] { Array(try Picture.png(width: 64, height: 48).prefix(60)) }

    private func origin(_ bytes: [UInt8]) throws -> ScriptedOrigin {
        try ScriptedOrigin { _ in [.answer(200, [:], bytes)] }
    }

    /// The codes with which so many loads failed.
    private func failures(_ pipeline: ImagePipeline, _ requests: [ImageRequest]) async -> [EideticError.Code?] {
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

    @Test("L07 a server that sends no picture, or one that is too large, is not asked again until told")
    func asked() async throws {
        let origin = try origin(try broken()), request = try ImageRequest(origin.url + "/a")
        let told = request.with(options: .retryFailed)
        #expect(await failures(.init(.init()), [request, request, told]) == [.truncated, .refused, .truncated])
        #expect(origin.requests.count == 2)
        var configuration = ImagePipeline.Configuration()
        configuration.decodeLimits.pixels = 100
        let large = try self.origin(try good()), pipeline = ImagePipeline(configuration)
        let picture = try ImageRequest(large.url + "/a")
        #expect(await failures(pipeline, [picture, picture]) == [.limitExceeded, .refused])
        #expect(large.requests.count == 1)
    }

    @Test("L07 what fails for the wishes of one request alone is asked for again by another")
    func wishes() async throws {
        var configuration = ImagePipeline.Configuration()
        configuration.decodeLimits.animationBytes = ByteCount(1)
        let origin = try origin(Picture.animatedGIF), request = try ImageRequest(origin.url + "/a")
        let all = request.with(options: .preloadAllFrames)
        #expect(await failures(ImagePipeline(configuration), [all, request]) == [.limitExceeded, nil])
    }

    @Test("L07 the same where a hook changes each request, and where the request has conditions", .needsNginx)
    func changedRequests() async throws {
        let origin = try origin(try broken()), count = Counter()
        var downloads = ImagePipeline.Configuration.standardDownloads
        downloads.requestModifier = { request in
            var request = request
            count.add()
            request.headers["X-Time"] = "\(count.value)"
            return request
        }
        let pipeline = ImagePipeline(.init(downloader: Downloader(downloads)))
        let request = try ImageRequest(origin.url + "/a")
        #expect(await failures(pipeline, [request, request]) == [.truncated, .refused])
        let fixture = try await Fixture(), refreshing = try fixture.put(options: [.refreshCached, .waitStoreCache])
        _ = try await fixture.pipeline.image(for: refreshing)
        try fixture.server.put(try broken(), at: "a.png")
        for _ in 0..<3 { _ = try await fixture.pipeline.image(for: refreshing) }
        #expect(try await fixture.server.requests().filter { $0.path == "/a.png" }.map(\.status) == [200, 200])
    }

    @Test("L02 L07 where the first of several servers sends a broken picture the next one is asked")
    func mirrors() async throws {
        let first = try origin(try broken()), second = try origin(try broken()), third = try origin(try good())
        let remotes = try [first, second, third].map { try FetchRequest(url: $0.url + "/a") }
        for options in [ImageOptions(), .retryFailed, .progressive] {
            let pipeline = ImagePipeline(.init()), request = ImageRequest(.firstOf(remotes), options: options)
            #expect(try await pipeline.image(for: request).size.width == 20)
            #expect(pipeline.cachedImage(for: request)?.size.width == 20)
        }
        #expect([first, second, third].map(\.requests.count) == [3, 3, 3])
        let none = ImageRequest(.firstOf(Array(remotes.prefix(2))), options: .retryFailed)
        #expect(await failures(ImagePipeline(.init()), [none]) == [.truncated])
    }

    @Test("C04 C18 a broken file in a bundle, which cannot be removed, does not stand before the server")
    func bundle() async throws {
        let origin = try origin(try good()), request = try ImageRequest(origin.url + "/a.png")
        let directory = try TemporaryDirectory("bundle")
        try directory.write(try broken(), to: "bundle/\(MD5.hexadecimal(Array(request.name.utf8))).png")
        var disk = DiskCache.Configuration(directory: directory.path("cache"))
        disk.bundles = [PictureBundle(directory: directory.path("bundle"))]
        let pipeline = ImagePipeline(.init(diskCache: try DiskCache(disk)))
        let offline = request.with(options: .fromCacheOnly)
        #expect(await failures(pipeline, [offline, request, request]) == [.cacheMiss, nil, nil])
        #expect(origin.requests.count == 1)
    }
}
