import Eidetic
import EideticCore
import EideticFetch
import EideticTestSupport
import EideticViews
import Testing

/// Loads by the shared pipeline and cache, as users of SDWebImage write them, in processes with a home of their own.
@Suite("Shared forms", .serialized, .timeLimit(.minutes(3)), .needsNginx)
struct SharedFormTests {
    let directory: TemporaryDirectory
    let server: Nginx

    init() async throws {
        directory = try TemporaryDirectory(named: "home")
        server = try await Nginx()
    }

    @Test("C23 L26 the second start reads a costly size from disk: pipeline, cache, prefetcher, trace and statistics")
    func derived() async throws {
        let path = directory.path
        let url = try server.addFile(TestImage.tiff(width: 3_000, height: 2_400), at: "a.tiff")
        for isFirst in [true, false] {
            await #expect(processExitsWith: .success) {
                [path = path as String, url = url as String, isFirst = isFirst as Bool] in
                HomeVariables.cacheHome.apply(path)
                let pipeline = ImagePipeline.shared, size = PixelSize(width: 400, height: 320)
                let request = ImageRequest(url, size: size)
                let response = try await pipeline.response(for: request)
                #expect(response.image.size == size && response.source == (isFirst ? .network : .disk))
                #expect(response.trace.description.contains("derived") == !isFirst)
                try await eventually("the pipeline is idle") { pipeline.isIdle }
                #expect(pipeline.statistics.derivedHits == (isFirst ? 0 : 1))
                pipeline.removeAllFromMemory()
                #expect(await ImagePrefetcher().prefetch([request]).finish().failed == 0)
                #expect(pipeline.statistics.derivedHits == (isFirst ? 1 : 2))
                pipeline.removeAllFromMemory()
                #expect(try await ImageCache.shared.image(for: .init(request))?.size == size)
            }
        }
        #expect(try await server.requests().count == 1)
    }

    @Test("C07 F03 the first frame of an animation and all its frames are two images, in both starts")
    func frames() async throws {
        let path = directory.path
        let animation = try TestImage.image(frames: 5, format: .gif).encoded(as: .gif)
        let url = try server.addFile(animation, at: "a.gif")
        for _ in 0..<2 {
            await #expect(processExitsWith: .success) { [path = path as String, url = url as String] in
                HomeVariables.cacheHome.apply(path)
                let first = ImageRequest(url, options: .firstFrameOnly, cachePolicy: .afterStorage)
                let all = ImageRequest(url, options: .preloadAllFrames)
                for (request, count) in [(first, 1), (all, 5), (first, 1), (all, 5)] {
                    let image = try await ImagePipeline.shared.image(for: request)
                    #expect(image.frames.count == count)
                    #expect(ImageCache.shared[.init(request)]?.frames.count == count)
                }
            }
        }
        #expect(try await server.requests().count == 1)
    }

    @Test("C16 a load of the second start reads what a serializer wrote in the first")
    func serializer() async throws {
        let path = directory.path, url = server.url + "/absent.png"
        for isFirst in [true, false] {
            await #expect(processExitsWith: .success) {
                [path = path as String, url = url as String, isFirst = isFirst as Bool] in
                HomeVariables.cacheHome.apply(path)
                ImagePipeline.shared = ImagePipeline {
                    $0.serializer = ImageCache.Serializer { image, bytes, _ throws(EideticError) in
                        if let bytes { return bytes.map { ~$0 } }
                        guard let image else { return [] }
                        return try image.encoded(as: .png).map { ~$0 }
                    } decode: { bytes, _ in
                        bytes.map { ~$0 }
                    }
                }
                let request = ImageRequest(url)
                if isFirst { try await ImageCache.shared.insert(try TestImage.image(), for: .init(request)) }
                let response = try await ImagePipeline.shared.response(for: request)
                #expect(response.source == (isFirst ? .memory : .disk) && response.image.size.width == 8)
            }
        }
        #expect(try await server.requests().isEmpty)
    }

    /// Returns a pipeline with hooks, whose keys have no query, and that loads URLs of the scheme `photo`.
    private static func makePipeline(photo: [UInt8]) -> ImagePipeline {
        var configuration = ImagePipeline.Configuration.standard
        configuration.downloads.acceptableStatus = [200, 404]
        configuration.downloads.responseModifier = { response in
            var response = response
            if response.status == 500 { response.status = 200 }
            return response
        }
        @Sendable func withoutQuery(_ request: ImageRequest) throws(EideticError) -> ImageRequest {
            var request = request
            if request.name.contains("?") { request.cacheKey = String(request.name.prefix { $0 != "?" }) }
            return request
        }
        configuration.requestProcessors = [withoutQuery]
        configuration.addSource(forScheme: "photo") { _ async throws(EideticError) in photo }
        return ImagePipeline(configuration)
    }

    @Test("L20 L27 C05 L26 hooks, statuses, keys, methods, schemes and scales have their effect on the shared pipeline")
    func requests() async throws {
        let path = directory.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            HomeVariables.cacheHome.apply(path)
            let png = try TestImage.png(width: 8, height: 6)
            let server = try ScriptedOrigin(readsBodies: true) { request in
                [.response(Int(request.path.dropFirst().prefix(3)) ?? 200, headers: [:], body: png)]
            }
            ImagePipeline.shared = SharedFormTests.makePipeline(photo: png)
            let pipeline = ImagePipeline.shared
            for name in ["404", "500", "a?1", "a?2"] {
                #expect(try await pipeline.image(for: ImageRequest("\(server.url)/\(name)")).size.width == 8)
            }
            #expect(server.requests.map(\.path) == ["/404", "/500", "/a?1"])
            let error = await #expect(throws: EideticError.self) {
                try await pipeline.image(for: ImageRequest(server.url + "/403"))
            }
            #expect(error?.code == .httpStatus && error?.httpStatus == 403)
            var post = try FetchRequest(url: server.url + "/b")
            (post.method, post.body) = ("POST", [1, 2])
            #expect(try await pipeline.image(for: ImageRequest(.remote(post))).size.width == 8)
            #expect(server.requests.last.map { $0.method == "POST" && $0.body == [1, 2] } == true)
            var scaled = ImageRequest("photo://1")
            scaled.rendering.scale = 3
            #expect(try await pipeline.image(for: scaled).scale == 3)
            pipeline.configuration.downloader.headers["X-Token"] = "one"
            _ = try await pipeline.image(for: ImageRequest(server.url + "/c"))
            #expect(server.requests.last?.headers["x-token"] == "one")
        }
    }

    @Test("C08 L04 L05 caches of a request, all loads and a slot without a URL, by the shared pipeline")
    func caches() async throws {
        let path = directory.path, url = try server.addFile(try TestImage.png(width: 8, height: 6), at: "a.png")
        await #expect(processExitsWith: .success) { @MainActor [path = path as String, url = url as String] in
            HomeVariables.cacheHome.apply(path)
            let pipeline = ImagePipeline.shared, cache = ImageCache.shared
            var request = ImageRequest(url, cachePolicy: .init(reads: [], writes: []))
            for _ in 0..<2 { #expect(try await pipeline.response(for: request).source == .network) }
            #expect(try await !cache.contains(.init(request)))
            request.cachePolicy = .afterStorage
            #expect(try await pipeline.response(for: request).source == .network)
            let file = try #require(try await cache.writeFile(for: .init(request), to: path + "/files"))
            #expect(try file.hasSuffix(".png") && FileSystem().contents(of: file) == TestImage.png(width: 8, height: 6))
            let server = try ScriptedOrigin { _ in [.wait(Gate())] }
            let requests = ["/1", "/2"].map { ImageRequest(server.url + $0) }
            let loads = requests.map { request in Task { try await pipeline.image(for: request) } }
            let group = ImagePrefetcher().prefetch([ImageRequest(server.url + "/3")])
            await server.waitForRequests(count: 3)
            pipeline.cancelAll()
            for load in loads {
                await #expect { try await load.value } throws: { ($0 as? EideticError)?.code == .cancelled }
            }
            #expect(await group.finish().failed == 1)
            var codes: [EideticError.Code] = []
            ImageSlot(display: RecordingDisplay()).load(nil) { result in
                if case .failure(let error) = result { codes.append(error.code) }
            }
            #expect(codes == [.invalidURL])
        }
    }
}
