import Eidetic
import EideticCodecs
import EideticTestSupport
import Testing

@Suite("Background tasks of stores", .timeLimit(.minutes(2)))
struct StoreCoverageTests {
    private let directory: TemporaryDirectory
    private let environment = RecordingEnvironment()
    private let disk: DiskCache

    init() throws {
        directory = try TemporaryDirectory(named: "coverage")
        let configuration = DiskCache.Configuration(directory: directory.path(of: "cache"))
        disk = try DiskCache(configuration, environment: environment)
        environment.resetLog()
    }

    @Test("C17 a loaded image is delivered after the background task that covers its store was asked for")
    func pipeline() async throws {
        let bytes = try TestImage.png(width: 8, height: 8)
        let pipeline = ImagePipeline(ImagePipeline.Configuration(diskCache: disk))
        environment.exhaust()
        var uncoveredCount = 0
        for number in 0..<200 {
            environment.resetLog()
            _ = try await pipeline.image(for: ImageRequest(.provider(name: "\(number)") { bytes }))
            if environment.log != ["refuse"] { uncoveredCount += 1 }
        }
        #expect(uncoveredCount == 0)
        #expect(disk.blocking.usage.entryCount == 0)
        environment.renew()
        let request = ImageRequest(.provider(name: "stored") { bytes }, cachePolicy: .afterStorage)
        _ = try await pipeline.image(for: request)
        #expect(disk.blocking.usage.entryCount == 1)
    }

    @Test("C17 an insertion is covered from its call, before the image is encoded")
    @MainActor func insertion() async throws {
        let cache = ImageCache(memory: ImageMemoryCache(), disk: disk)
        let image = try ImageDecoder.decode(try TestImage.png(width: 64, height: 64))
        let insertion = Task.immediate { try await cache.insert(image, for: "a") }
        #expect(environment.log == ["begin 1"])
        try await insertion.value
        #expect(environment.log == ["begin 1", "end 1"])
        environment.exhaust()
        await #expect(throws: EideticError.self) { try await cache.insert(image, for: "b") }
        #expect(cache["b"] != nil)
        #expect(try disk.blocking.read("b") == nil)
    }
}
