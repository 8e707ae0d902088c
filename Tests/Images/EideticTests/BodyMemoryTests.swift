import Eidetic
import EideticTestSupport
import Testing

@Suite("Bodies that wait for a decoder", .timeLimit(.minutes(2)))
struct BodyMemoryTests {
    /// Returns a pipeline whose bodies have this limit, and the downloader.
    private func makePipeline(limit: Int, disk: DiskCache? = nil) -> (pipeline: ImagePipeline, downloader: Downloader) {
        var downloads = ImagePipeline.Configuration().downloads
        downloads.bodyMemoryLimit = ByteCount(limit)
        let downloader = Downloader(downloads)
        var configuration = ImagePipeline.Configuration(diskCache: disk, downloader: downloader)
        configuration.maximumConcurrentDecodes = 1
        return (ImagePipeline(configuration), downloader)
    }

    /// Returns an origin whose images are valid, except those below `/broken`.
    private func makeOrigin(_ image: [UInt8]) throws -> ScriptedOrigin {
        try ScriptedOrigin { request in
            [.response(200, body: request.path.hasPrefix("/broken") ? Array(image.prefix(image.count / 2)) : image)]
        }
    }

    @Test("C18 many images larger than the limit are all loaded, and broken and loaded ones leave no bytes")
    func all() async throws {
        let origin = try makeOrigin(try TestImage.png(width: 100, height: 100))
        let (pipeline, downloader) = makePipeline(limit: 10_000)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<40 {
                let path = number.isMultiple(of: 4) ? "broken" : "good"
                let options: ImageOptions = number.isMultiple(of: 3) ? .progressive : []
                let request = ImageRequest("\(origin.url)/\(path)/\(number)", options: options)
                group.addTask { (try? await pipeline.image(for: request)) != nil }
            }
            var loadedCount = 0
            for try await isLoaded in group where isLoaded { loadedCount += 1 }
            #expect(loadedCount == 30)
        }
        try await eventually("bytes of bodies in memory", is: 0) { downloader.bodyBudget.usedBytes }
    }

    @Test("C18 a low load whose bytes wait while the user scrolls does not delay a more urgent one")
    func scrolling() async throws {
        let origin = try makeOrigin(try TestImage.png(width: 100, height: 100))
        let (pipeline, downloader) = makePipeline(limit: 10_000)
        let share = downloader.bodyBudget.makeShare(for: .init(priority: .low))
        share.add(20_000)
        share.markComplete()
        let urgent = ImageRequest("\(origin.url)/1", priority: .normal)
        #expect(try await pipeline.image(for: urgent).size.width == 100)
        let low = ImageRequest("\(origin.url)/2", priority: .low)
        let task = Task { try await pipeline.image(for: low) }
        try await eventually("number of waiting downloads", is: 1) { downloader.counts.waiting }
        share.release()
        #expect(try await task.value.size.width == 100)
    }

    @Test("C18 bytes from disk wait for room as well, and a cancelled load leaves none")
    func disk() async throws {
        let origin = try makeOrigin(try TestImage.png(width: 100, height: 100))
        let directory = try TemporaryDirectory(named: "bodies")
        let disk = try DiskCache(DiskCache.Configuration(directory: directory.path(of: "cache")))
        let request = ImageRequest("\(origin.url)/1", cachePolicy: .afterStorage)
        _ = try await makePipeline(limit: 10_000, disk: disk).pipeline.image(for: request)
        let (pipeline, downloader) = makePipeline(limit: 10_000, disk: disk)
        let share = downloader.bodyBudget.makeShare(for: .init(priority: .normal))
        share.add(10_000)
        share.markComplete()
        let cancelled = Task { try await pipeline.image(for: request) }
        cancelled.cancel()
        await #expect(throws: EideticError.self) { _ = try await cancelled.value }
        let task = Task { try await pipeline.response(for: request).source }
        share.release()
        #expect(try await task.value == .disk)
        #expect(downloader.bodyBudget.usedBytes == 0)
    }
}
