import Eidetic
import EideticTestSupport
import Testing

/// A server, a disk cache and a pipeline of their own for one test.
struct PipelineFixture {
    let server: Nginx
    let directory: TemporaryDirectory
    let pipeline: ImagePipeline

    init(_ configuration: Nginx.Configuration = .init()) async throws {
        server = try await Nginx(configuration)
        directory = try TemporaryDirectory(named: "pipeline")
        pipeline = try Self.pipeline(directory)
    }

    /// A pipeline over the same directory, as the next run of a program would make it.
    func nextRun() throws -> ImagePipeline { try Self.pipeline(directory) }

    private static func makePipeline(in directory: TemporaryDirectory) throws -> ImagePipeline {
        let disk = try DiskCache(DiskCache.Configuration(directory: directory.path(of: "cache")))
        return ImagePipeline(ImagePipeline.Configuration(diskCache: disk))
    }

    /// Puts a picture on the server and gives a request for it.
    func serve(
        _ name: String = "a.png",
        width: Int = 64,
        height: Int = 48,
        size: PixelSize? = nil,
        options: ImageOptions = []
    ) throws -> ImageRequest {
        let url = try server.addFile(try TestImage.png(width: width, height: height), at: name)
        return try ImageRequest(url, size: size, options: options)
    }
}

/// Waits until `condition` holds, giving others the thread in between.
func waitUntil(isolation: isolated (any Actor)? = #isolation, _ condition: () throws -> Bool) async rethrows {
    while !(try condition()) {
        // The time limit of a test cancels it.
        guard !Task.isCancelled else { return _ = Issue.record("waited in vain") }
        await Task.yield()
    }
}
