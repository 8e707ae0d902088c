import Eidetic
import EideticTestSupport
import Testing

/// A server, a disk cache and a pipeline for one test.
struct PipelineFixture {
    let server: Nginx
    let directory: TemporaryDirectory
    let pipeline: ImagePipeline

    init(_ configuration: Nginx.Configuration = .init()) async throws {
        server = try await Nginx(configuration)
        directory = try TemporaryDirectory(named: "pipeline")
        pipeline = try Self.makePipeline(in: directory)
    }

    /// Returns a pipeline over the same directory, as the next run of a program creates it.
    func nextRun(change: (inout ImagePipeline.Configuration) -> Void = { _ in }) throws -> ImagePipeline {
        try Self.makePipeline(in: directory, change: change)
    }

    private static func makePipeline(
        in directory: TemporaryDirectory,
        change: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) throws -> ImagePipeline {
        let disk = try DiskCache(DiskCache.Configuration(directory: directory.path(of: "cache")))
        var configuration = ImagePipeline.Configuration(diskCache: disk)
        change(&configuration)
        return ImagePipeline(configuration)
    }

    /// Puts an image on the server, and returns a request for it.
    func serve(
        _ name: String = "a.png",
        width: Int = 64,
        height: Int = 48,
        size: PixelSize? = nil,
        options: ImageOptions = [],
        cachePolicy: ImageRequest.CachePolicy = .standard
    ) throws -> ImageRequest {
        let url = try server.addFile(try TestImage.png(width: width, height: height), at: name)
        return ImageRequest(url, size: size, options: options, cachePolicy: cachePolicy)
    }
}

/// Waits until a handler was called `count` times and nothing is left to do, and expects no further call.
@MainActor
func expectExactly(_ count: Int, of calls: Counter, in pipeline: ImagePipeline) async throws {
    try await eventually("\(count) calls, and the pipeline is idle") { calls.value >= count && pipeline.isIdle }
    // Handlers that were sent to the main actor before this turn have run.
    await Task { @MainActor in }.value
    #expect(calls.value == count)
}

extension ImageRequest.CachePolicy {
    /// The policy with a delivery after the bytes are stored.
    var waiting: Self {
        var policy = self
        policy.waitsForStorage = true
        return policy
    }
}
