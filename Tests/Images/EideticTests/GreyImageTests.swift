import Eidetic
import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

@Suite("Grey images", .timeLimit(.minutes(2)))
struct GreyImageTests {
    private static func pipeline(memoryLimit: ByteCount = .mebibytes(1)) -> ImagePipeline {
        var configuration = ImagePipeline.Configuration()
        configuration.memoryLimit = memoryLimit
        return ImagePipeline(configuration)
    }

    /// Returns a request for grey pixels whose value is the sum of their coordinates.
    private func request(width: Int = 30, height: Int = 20, rendering: ImageRequest.Rendering = .init()) -> ImageRequest
    {
        ImageRequest(.bytes(TestImage.tiff(width: width, height: height)), rendering: rendering)
    }

    private func cost(of pipeline: ImagePipeline) -> ByteCount { pipeline.cache.memory.images.totalCost }

    @Test("C01 a grey image costs a byte a pixel in memory, and is found there with its pixels")
    func cost() async throws {
        let pipeline = Self.pipeline(), loaded = try await pipeline.image(for: request())
        let found = try #require(pipeline.cachedImage(for: request()))
        #expect(loaded.cost == 600 && found.cost == 600 && cost(of: pipeline) == 600)
        #expect(found.pixels === loaded.pixels && found.pixels[29, 19] == SIMD4(48, 48, 48, 255))
        #expect(found.pixels.withUnsafeBytes { $0.count } == 2_400)
        // Nobody else reads it, so that it costs no more afterwards.
        #expect(found.cost == 600 && cost(of: pipeline) == 600)
        let coloured = ImageRequest(.bytes(try TestImage.png(width: 30, height: 20)))
        #expect(try await pipeline.image(for: coloured).cost == 2_400)
        #expect(cost(of: pipeline) == 3_000)
    }

    @Test(
        "C01 memory holds as many grey images as have a byte a pixel within its limit",
        arguments: [(599, 0), (600, 1), (601, 1), (1_199, 1), (1_200, 2), (1_201, 2)]
    )
    func limit(bytes: Int, count: Int) async throws {
        let pipeline = Self.pipeline(memoryLimit: ByteCount(bytes))
        for request in [request(), request(width: 20, height: 30)] { _ = try await pipeline.image(for: request) }
        #expect(pipeline.cache.memory.images.count == count)
        #expect(cost(of: pipeline) == ByteCount(600 * count))
    }

    @Test("C01 a grey image has a byte a pixel resized and transformed, and four where a transform needs them")
    func renderings() async throws {
        let size = PixelSize(width: 15, height: 10)
        let renderings: [(String, ImageRequest.Rendering, Int)] = [
            ("size", .init(size: size), 150), ("resize", .init(transform: .resize(size)), 150),
            ("blur", .init(transform: .gaussianBlur(radius: 2)), 600),
            ("corners", .init(transform: .roundedCorners(radius: 4)), 2_400),
            ("tint", .init(transform: .tint(ImageColor(red: 200, green: 0, blue: 0, alpha: 90))), 2_400),
            ("size, then flip", .init(size: size, transform: .flip()), 150),
        ]
        for (name, rendering, cost) in renderings {
            let image = try await Self.pipeline().image(for: request(rendering: rendering))
            #expect(image.cost == ByteCount(cost), "\(name)")
            // From the image in memory, if the first step is not a size to which its bytes are decoded.
            let pipeline = Self.pipeline(), whole = try await pipeline.image(for: request())
            let response = try await pipeline.response(for: request(rendering: rendering))
            #expect(response.image.cost == ByteCount(cost) && whole.cost == 600, "\(name) in memory")
            let isMade = !response.trace.steps.contains { $0.detail.hasPrefix("tiff") }
            #expect(isMade == !["resize", "size, then flip"].contains(name), "\(response.trace)")
        }
        let pixels = try TestImage.pixels(width: 30, height: 20)
        let colours = Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: pixels.size)
        let bytes = try ImageEncoder.encode(colours, as: .png)
        let grey = ImageRequest(.bytes(bytes), rendering: .init(transform: .grayscale))
        #expect(try await Self.pipeline().image(for: grey).cost == 600)
    }

    @Test("C02 a grey image on the screen, where its four bytes are shown, is found again after it was evicted")
    func shown() throws {
        let memory = ImageMemoryCache(), key = CacheKey("grey")
        func insert() throws -> PixelBuffer {
            let image = try ImageDecoder.decode(TestImage.tiff(width: 30, height: 20)).compacted()
            memory.insert(image, for: key)
            return try image.pixels.expanded()
        }
        var shown: PixelBuffer? = try insert()
        memory.enterBackground(behavior: .removeAll)
        #expect(memory.images.totalCost == 0 && memory.image(for: key)?.cost == 600)
        memory.enterBackground(behavior: .removeAll)
        #expect(shown?.size.width == 30)
        shown = nil
        #expect(memory.image(for: key) == nil)
    }

    @Test("C23 a grey image that was resized in an earlier run, and one of a cache, have a byte a pixel", .needsNginx)
    func fromDisk() async throws {
        let fixture = try await PipelineFixture(), size = PixelSize(width: 150, height: 100)
        let url = try fixture.server.addFile(TestImage.tiff(width: 300, height: 200), at: "a.tiff")
        let request = ImageRequest(url, size: size, cachePolicy: .afterStorage)
        for isDerived in [false, true] {
            let pipeline = try fixture.nextRun { $0.derivedImages = .init(policy: .both) }
            let response = try await pipeline.response(for: request)
            #expect(response.image.cost == 15_000 && cost(of: pipeline) == 15_000)
            #expect(response.trace.steps.contains { $0.detail.hasPrefix("derived") } == isDerived)
            try await eventually("the pipeline is idle") { pipeline.isIdle }
        }
        let cache = try fixture.nextRun { $0.derivedImages = .init(policy: .both) }.cache
        #expect(try await cache.image(for: ImageCache.Key(url, rendering: .init(size: size)))?.cost == 15_000)
        #expect(try await cache.image(for: ImageCache.Key(url))?.cost == 60_000)
    }
}
