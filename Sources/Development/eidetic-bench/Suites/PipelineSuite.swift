import Eidetic
import EideticCore
import EideticStore
import EideticTestSupport

extension Suite {
    /// The cost of a memory hit through the public API.
    static let pipeline = Suite(
        "pipeline",
        summary: "memory hits from prepared requests, against the cache's own",
        arguments: ["entries=NUMBER  the number of cached images (default: 1024)"]
    ) { bench in
        let measurement = try await PipelineMeasurement(entries: try bench.integer(named: "entries", default: 1_024))
        await measurement.measureHits(with: bench)
        await measurement.measureLoads(with: bench)
        try await measurement.measureAwaitedHits(with: bench)
    }
}

/// The same lookups through the pipeline and through a cache alone.
private struct PipelineMeasurement {
    private static let operations = 100_000

    private let pipeline: ImagePipeline
    private let requests: [ImageRequest]
    private let keys: [CacheKey]
    private let cache = ImageMemoryCache()
    private let order: [Int]

    init(entries: Int) async throws {
        var configuration = ImagePipeline.Configuration()
        configuration.memoryLimit = .mebibytes(1_024)
        pipeline = ImagePipeline(configuration)
        let pixel = PixelSize(width: 1, height: 1)
        let pixels = try PixelBuffer(size: pixel, alpha: .opaque) { pixels, _ in pixels[3] = 255 }
        let image = Image(frames: [Image.Frame(pixels: pixels)], format: .png, sourceSize: pixel)
        let png = try image.encoded(as: .png)
        var requests: [ImageRequest] = []
        for index in 0..<entries {
            let resource = ImageRequest.Resource.provider(
                name: "https://images01.example.org/large/IMG_\(1_000_000 + index).png"
            ) {
                () throws(EideticError) in png
            }
            requests.append(ImageRequest(resource, rendering: .init(size: pixel)))
        }
        for request in requests { _ = try await pipeline.image(for: request) }
        keys = (0..<entries).map { CacheKey("image \($0)") }
        for key in keys { cache.insert(image, for: key) }
        self.requests = requests
        var random = SplitMix(state: 1)
        order = (0..<Self.operations).map { _ in Int(random.next() % UInt64(entries)) }
    }

    /// Measures `cachedImage(for:)`, the first call of a view.
    func measureHits(with bench: Bench) async {
        for goal in [BenchmarkCase.Goal.ratio(1.5), .value(150)] {
            await bench.compare(
                BenchmarkCase("hit, prepared request", unit: .nanoseconds, goal: goal),
                operations: Self.operations,
                with: "the cache alone",
                ours: { for index in order { blackHole(pipeline.cachedImage(for: requests[index]) != nil) } },
                theirs: { for index in order { blackHole(cache.image(for: keys[index]) != nil) } }
            )
        }
    }

    /// Measures `load` with a completion, which is called before `load` returns.
    func measureLoads(with bench: Bench) async {
        await bench.measure(
            BenchmarkCase("hit, load with completion", unit: .nanoseconds),
            operations: Self.operations
        ) { @MainActor in
            var count = 0
            for index in order { pipeline.load(requests[index]) { _ in count += 1 } }
            precondition(count == order.count)
        }
    }

    /// Measures `try await image(for:)`.
    func measureAwaitedHits(with bench: Bench) async throws {
        try await bench.measure(
            BenchmarkCase("hit, awaited", unit: .nanoseconds),
            operations: Self.operations
        ) {
            for index in order { blackHole(try await pipeline.image(for: requests[index]).frames.count) }
        }
    }
}
