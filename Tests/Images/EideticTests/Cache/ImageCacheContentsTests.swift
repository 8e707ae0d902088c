import Eidetic
import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("Image cache: contents", .timeLimit(.minutes(2)))
struct ImageCacheContentsTests {
    @Test("C03 C12 namespaces are separate, empty at first, and survive their objects")
    func namespaces() async throws {
        let directory = try TemporaryDirectory(named: "namespaces")
        let one = try ImageCache(namespace: "one", in: directory.path)
        let two = try ImageCache(namespace: "../two", in: directory.path)
        #expect(one.blockingDiskUsage == DiskCache.Usage())
        #expect(one.memoryCost == .zero)
        #expect(one.memoryCount == 0)
        try await one.insert(try TestImage.image(), for: "a")
        #expect(one.blockingDiskUsage.entryCount == 1)
        #expect(one.memoryCount == 1)
        #expect(one.memoryCost == 192)
        #expect(try !two.blocking.contains("a"))
        #expect(two.path(for: "a")?.hasPrefix(directory.path(of: ".._two/")) == true)
        let again = try ImageCache(namespace: "one", in: directory.path)
        #expect(again["a"] == nil)
        #expect(try await again.image(for: "a")?.size == PixelSize(width: 8, height: 6))
    }

    @Test("C03 the shared instance is the shared pipeline's")
    func sharedInstance() throws {
        let request = ImageRequest("http://localhost/\(UInt64.random(in: 0...UInt64.max)).png")
        try ImageCache.shared.blocking.insert(try TestImage.image(), for: .init(request), in: .memory)
        #expect(ImagePipeline.shared.cachedImage(for: request) != nil)
        try ImageCache.shared.blocking.remove(.init(request), from: .memory)
        #expect(ImagePipeline.shared.cachedImage(for: request) == nil)
        #expect(ImageCache.shared === ImageCache.shared)
    }

    @Test("C08 exists, path, bytes, remove and clear, blocking, for memory, disk and both")
    func blockingForms() throws {
        let cache = try ImageCacheFixture().cache
        let image = try TestImage.image()
        for name in ["a", "b", "c", "d"] { try cache.blocking.insert(image, for: .init(name)) }
        #expect(try cache.blocking.tiers(containing: "a") == .all)
        try cache.blocking.remove("a", from: .memory)
        #expect(try cache.blocking.tiers(containing: "a") == .disk)
        try cache.blocking.remove("b", from: .disk)
        #expect(try cache.blocking.tiers(containing: "b") == .memory)
        #expect(try cache.blocking.bytes(for: "b") == nil)
        try cache.blocking.remove("c")
        #expect(try cache.blocking.tiers(containing: "c").isEmpty)
        let path = try #require(cache.path(for: "d"))
        let file = try FileSystem().contents(of: path)
        #expect(file.starts(with: try #require(try cache.blocking.bytes(for: "d"))))
        try cache.blocking.removeAll(from: .memory)
        #expect(try cache.blocking.tiers(containing: "d") == .disk)
        try cache.blocking.removeAll(from: .disk)
        #expect(try !cache.blocking.contains("d"))
        #expect(cache.blockingDiskUsage == DiskCache.Usage())
    }

    @Test("C08 a transformed image is removed from memory by its own key, and the image itself stays")
    func transformed() throws {
        let cache = try ImageCacheFixture().cache, image = try TestImage.image()
        let key = ImageCache.Key("a", rendering: .init(transform: CountingTransform(count: Counter())))
        for key in [key, "a"] { try cache.blocking.insert(image, for: key, in: .memory) }
        #expect(cache[key] != nil)
        try cache.blocking.remove(key, from: .memory)
        #expect(cache[key] == nil && cache["a"] != nil)
    }

    @Test("C08 exists, bytes, remove and clear have asynchronous forms that do the same")
    func asynchronousForms() async throws {
        let cache = try ImageCacheFixture().cache
        let image = try TestImage.image()
        for name in ["a", "b"] { try await cache.insert(image, for: .init(name)) }
        #expect(try await cache.contains("a", in: .disk))
        try await cache.remove("a", from: .memory)
        #expect(try await cache.contains("a"))
        #expect(try await !cache.contains("a", in: .memory))
        try await cache.remove("a")
        #expect(try await !cache.contains("a"))
        #expect(try await cache.diskUsage.entryCount == 1)
        try await cache.removeAll()
        #expect(try await cache.diskUsage == DiskCache.Usage())
        #expect(try await !cache.contains("b"))
    }

    @Test("C08 an image is removed from memory in all its sizes")
    func allSizes() async throws {
        let cache = try ImageCacheFixture().cache
        try cache.blocking.insert(bytes: try TestImage.png(width: 640, height: 480), for: "a")
        let small = ImageCache.Key("a", rendering: .init(size: PixelSize(width: 64, height: 64)))
        _ = try await cache.image(for: small)
        _ = try await cache.image(for: "a")
        #expect(cache.memoryCount == 2)
        try await cache.remove("a")
        #expect(cache.memoryCount == 0)
        #expect(try await cache.image(for: small) == nil)
    }

    @Test("C04 C05 directories of SDWebImage and bundles are read with the usual limits, and never changed")
    func foreign() async throws {
        let key = "http://a.com/p.png?x=1.2", plain = "no extension"
        let fixture = try ImageCacheFixture { settings, directory in
            let old = ImageBundle.sdWebImage(in: directory.path(of: "old"))
            let bundle = ImageBundle(directory: directory.path(of: "bundle"))
            let bytes = try TestImage.png(width: 5, height: 4)
            for path in [old.paths(for: key)[0], bundle.paths(for: plain)[0]] {
                try directory.write(bytes, to: String(path.dropFirst(directory.path.utf8.count + 1)))
            }
            let brokenPath = bundle.paths(for: "broken")[0].dropFirst(directory.path.utf8.count + 1)
            try directory.write([1, 2, 3], to: String(brokenPath))
            mkfifo(bundle.paths(for: "pipe")[0], 0o600)
            settings.bundles = [old, bundle]
        }
        #expect(try await fixture.cache.image(for: .init(key))?.size == PixelSize(width: 5, height: 4))
        #expect(try await fixture.cache.image(for: .init(plain))?.size == PixelSize(width: 5, height: 4))
        #expect(await errorCode { _ = try await fixture.cache.image(for: "broken") } == .truncated)
        #expect(try await fixture.cache.image(for: "pipe") == nil)
        #expect(try fixture.cache.blocking.contains(.init(key), in: .disk))
        try fixture.cache.blocking.remove(.init(key))
        try fixture.cache.blocking.removeAll()
        #expect(try await fixture.cache.image(for: .init(key)) != nil)
        #expect(try fixture.directory.contents(of: "bundle/\(MD5.hexadecimal(Array("broken".utf8)))") == [1, 2, 3])
        #expect(fixture.cache.blockingDiskUsage.entryCount == 0)
    }

    @Test("C04 an image of an SDWebImage directory is decoded within the limits of pixels", arguments: [19, 20, 21])
    func foreignLimits(pixels: Int) async throws {
        var limits = ImageCache.Configuration()
        limits.decodeLimits.pixels = pixels
        let fixture = try ImageCacheFixture(limits) { settings, directory in
            settings.bundles = [.sdWebImage(in: directory.path)]
        }
        let key = "http://example.org/a.png", bundle = ImageBundle.sdWebImage(in: fixture.directory.path)
        let path = try #require(bundle.paths(for: key).first)
        try FileSystem().makeDirectories(bundle.directory)
        let name = String(path.dropFirst(fixture.directory.path.count + 1))
        try fixture.directory.write(try TestImage.png(width: 5, height: 4), to: name)
        let code = await errorCode { _ = try await fixture.cache.image(for: .init(key)) }
        #expect(code == (pixels < 20 ? .limitExceeded : nil))
        #expect(access(path, F_OK) == 0)
    }

    @Test("C10 with a limit of 10 bytes an entry of 20 is refused, and the classic sweep leaves nothing above it")
    func tinyLimit() throws {
        let tiny = try ImageCacheFixture { settings, _ in settings.sizeLimit = 10 }
        #expect(
            errorCode { try tiny.disk.blocking.insert([UInt8](repeating: 1, count: 20), for: "a") } == .limitExceeded
        )
        #expect(tiny.cache.blockingDiskUsage.entryCount == 0)
        let large = try ImageCacheFixture()
        try large.disk.blocking.insert([UInt8](repeating: 1, count: 20), for: "a")
        #expect(try large.disk.blocking.sweep(downTo: 10).evictedCount == 1)
        #expect(large.cache.blockingDiskUsage.entryCount == 0)
    }
}

@Suite("Image cache and pipeline", .timeLimit(.minutes(2)), .enabled(if: Nginx.isInstalled, "nginx is not installed"))
struct ImageCachePipelineTests {
    @Test("C07 L09 the cache finds an image that a pipeline has stored, in memory and on disk")
    func fromPipeline() async throws {
        let fixture = try await PipelineFixture()
        let request = try fixture.serve(cachePolicy: .afterStorage)
        _ = try await fixture.pipeline.image(for: request)
        let cache = fixture.pipeline.cache
        #expect(cache[.init(request)] != nil)
        #expect(cache[.init(request.name)] != nil)
        let next = try fixture.nextRun().cache
        #expect(next[.init(request)] == nil)
        #expect(try await next.lookup(.init(request.name))?.source == .disk)
        #expect(next[.init(request)] != nil)
    }

    @Test("C06 the pipeline loads an image that was inserted into the cache, without the network")
    func toPipeline() async throws {
        let fixture = try await PipelineFixture()
        let request = ImageRequest("http://localhost:\(fixture.server.port)/none.png")
        try await fixture.pipeline.cache.insert(try TestImage.image(width: 9, height: 7), for: .init(request.name))
        #expect(fixture.pipeline.cachedImage(for: request)?.size.width == 9)
        let response = try await fixture.nextRun().response(for: request)
        #expect(response.source == .disk)
        #expect(response.image.size == PixelSize(width: 9, height: 7))
        #expect(try await fixture.server.requestCount(for: "/none.png") == 0)
    }

    @Test("C06 a cache and a pipeline can share one memory cache")
    func sharedMemory() async throws {
        let memory = ImageMemoryCache()
        var configuration = ImagePipeline.Configuration()
        configuration.memoryCache = memory
        let pipeline = ImagePipeline(configuration)
        let cache = ImageCache(memory: memory)
        try await cache.insert(try TestImage.image(), for: "http://localhost/a.png")
        #expect(pipeline.cachedImage(for: ImageRequest("http://localhost/a.png")) != nil)
        #expect(cache.path(for: "a") == nil)
    }

    @Test("C20 with HTTP freshness an image that the cache inserts into memory is fresh no longer than its entry")
    func freshness() async throws {
        let fixture = try await PipelineFixture()
        var configuration = ImagePipeline.Configuration(diskCache: fixture.pipeline.configuration.diskCache)
        configuration.freshness = .http
        let pipeline = ImagePipeline(configuration)
        var metadata = DiskCache.Metadata(headers: [.init(name: "Cache-Control", value: "max-age=0")])
        let bytes = try TestImage.png(width: 5, height: 4)
        try pipeline.cache.blocking.insert(bytes: bytes, for: "http://localhost/stale.png", metadata: metadata)
        #expect(try await pipeline.cache.image(for: "http://localhost/stale.png") != nil)
        #expect(pipeline.cache["http://localhost/stale.png"] == nil)
        metadata.headers[0].value = "max-age=600"
        try pipeline.cache.blocking.insert(bytes: bytes, for: "http://localhost/fresh.png", metadata: metadata)
        #expect(try await pipeline.cache.image(for: "http://localhost/fresh.png") != nil)
        #expect(pipeline.cache["http://localhost/fresh.png"] != nil)
    }
}
