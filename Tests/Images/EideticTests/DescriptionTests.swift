import Eidetic
import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

@Suite("Descriptions", .timeLimit(.minutes(1)))
struct DescriptionTests {
    private func image(
        frameCount: Int = 1,
        sourceSize: PixelSize = PixelSize(width: 4, height: 3),
        scale: Double = 1,
        isPartial: Bool = false
    ) throws -> Image {
        let pixels = try ImageDecoder.decode(try TestImage.png(width: 4, height: 3)).pixels
        return Image(
            frames: Array(repeating: Image.Frame(pixels: pixels), count: frameCount),
            format: .gif,
            sourceSize: sourceSize,
            scale: scale,
            isPartial: isPartial
        )
    }

    @Test("L26 an image prints as a line with its format and sizes")
    func images() throws {
        let large = PixelSize(width: 400, height: 300)
        #expect("\(try image())" == "gif 4x3")
        #expect("\(try image(sourceSize: large))" == "gif 4x3 of 400x300")
        let everything = try image(frameCount: 12, sourceSize: large, scale: 2, isPartial: true)
        #expect("\(everything)" == "gif 4x3 of 400x300, 12 frames, scale 2.0, partial")
    }

    @Test("L26 an image that is decoded on first use prints without being decoded")
    func deferred() async throws {
        let png = try TestImage.png(width: 4, height: 3)
        let request = ImageRequest(.bytes(png), options: .avoidDecode)
        let image = try await ImagePipeline(.init()).image(for: request)
        #expect("\(image)" == "png 4x3")
        #expect(!image.isDecoded)
    }

    @Test("L09 a response prints as a line with its image, size, source and duration")
    func responses() async throws {
        let png = try TestImage.png(width: 4, height: 3)
        let server = try ScriptedOrigin { request in
            request.headers["if-none-match"] == nil
                ? [.response(200, headers: ["ETag": "\"1\""], body: png)] : [.response(304)]
        }
        let directory = try TemporaryDirectory(named: "description")
        let pipeline = ImagePipeline(.init(diskCache: try DiskCache(.init(directory: directory.path))))
        let request = ImageRequest(server.url + "/a.png", cachePolicy: .afterStorage),
            size = "\(ByteCount(png.count))"
        func line(options: ImageOptions = []) async throws -> String {
            let text = "\(try await pipeline.response(for: request.with(options: options)))"
            return text.replacing(/\ in \d+\.\d ms/, with: " in … ms")
        }
        #expect(try await line() == "png 4x3, \(size) from the network in … ms")
        #expect(try await line() == "png 4x3, \(size) from memory in … ms")
        #expect(try await line(options: .refreshCached) == "png 4x3, \(size) from memory in … ms, unchanged")
        pipeline.removeAllFromMemory()
        #expect(try await line() == "png 4x3, \(size) from disk in … ms")
    }

    @Test("L09 L26 an interceptor's response from a cache that machines share is counted apart, and prints so")
    func shared() async throws {
        var configuration = ImagePipeline.Configuration()
        let bytes = [UInt8](repeating: 0, count: 1_234)
        let answer = ImageResponse(try image(), source: .shared, encodedBytes: bytes)
        configuration.interceptors = [FunctionInterceptor { _, _ in answer }]
        let pipeline = ImagePipeline(configuration)
        let response = try await pipeline.response(for: ImageRequest("https://example.org/a.gif"))
        #expect(response.source == .shared)
        #expect("\(response)" == "gif 4x3, 1.2 KB from a shared cache in 0.0 ms")
        #expect(pipeline.statistics.sharedHits == 1)
        #expect(pipeline.statistics.diskHits == 0)
        #expect(pipeline.statistics.savedBytes == 1_234)
        #expect(pipeline.statistics.diskHitRatio == 0)
        #expect(pipeline.statistics.prometheusText.contains("\neidetic_shared_hits_total 1\n"))
        let line = "1 load: 0 from memory, 0 from disk, 0 from the network, 1 from a shared cache; "
        #expect("\(pipeline.statistics)" == line + "0 joined, 1.2 KB saved")
    }

    @Test("L26 statistics print as a line")
    func statistics() {
        var statistics = PipelineStatistics()
        (statistics.loads, statistics.memoryHits, statistics.diskHits, statistics.networkLoads) = (20, 9, 3, 4)
        (statistics.cancelled, statistics.failures, statistics.joined, statistics.savedBytes) = (3, 1, 2, 1_200_000)
        let line = "20 loads: 9 from memory, 3 from disk, 4 from the network, 3 cancelled, 1 failed; "
        #expect("\(statistics)" == line + "2 joined, 1.2 MB saved")
        var stage = PipelineStatistics.Stage()
        (stage.count, stage.total, stage.waiting) = (12, .milliseconds(240), .milliseconds(80))
        stage.longest = .microseconds(31_460)
        #expect("\(stage)" == "12 steps, 240.0 ms, 80.0 ms of it waiting, at most 31.5 ms")
        #expect(stage.working == .milliseconds(160))
    }

    @Test("C01 statistics of a memory cache print as a line")
    func memoryStatistics() {
        let cache = MemoryCache<Int>(costLimit: 100, countLimit: 2)
        for number in 0..<3 { cache.insert(number, for: CacheKey("\(number)"), cost: 1) }
        _ = (cache.value(for: CacheKey("2")), cache.value(for: CacheKey("9")))
        #expect("\(cache.statistics)" == "1 hit, 1 miss, 3 insertions, 1 removal")
    }
}
