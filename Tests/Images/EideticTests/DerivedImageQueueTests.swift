import Eidetic
import EideticCore
import EideticTestSupport
import Testing

/// The images that wait for their write, while the first one of them is held on its way to the disk.
@Suite("Derived images: the queue", .timeLimit(.minutes(2)), .needsNginx)
struct DerivedImageQueueTests {
    private let environment = RecordingEnvironment(), plan = FaultPlan()
    private let fixture: PipelineFixture
    private let pipeline: ImagePipeline
    private let request: ImageRequest

    init() async throws {
        fixture = try await PipelineFixture()
        let settings = DiskCache.Configuration(directory: fixture.directory.path(of: "cache"))
        let disk = try DiskCache(settings, fileSystem: FileSystem(observer: plan), environment: environment)
        var configuration = ImagePipeline.Configuration(diskCache: disk)
        configuration.derivedImages = .init(policy: .both)
        configuration.derivedImages.queueLimit = 30
        pipeline = ImagePipeline(configuration)
        request = try fixture.serve(width: 1_200, height: 1, cachePolicy: .afterStorage)
        _ = try await pipeline.image(for: request)
    }

    /// Loads the image in widths from 1 on, and holds the write of the first.
    ///
    /// - Returns: A function that lets the write continue, and waits until none is left.
    private func loadSizes(_ count: Int) async throws -> () async throws -> Void {
        let writing = Gate(), proceed = Gate()
        plan.before(.rename) {
            writing.open()
            proceed.block()
        }
        for width in 1...count {
            let size = PixelSize(width: width, height: 1)
            _ = try await pipeline.image(for: ImageRequest(request.name, size: size))
            if width == 1 { await writing.wait() }
        }
        return { [pipeline] in
            proceed.open()
            try await eventually("the pipeline is idle") { pipeline.isIdle }
        }
    }

    private func derivedCount() throws -> Int {
        try pipeline.configuration.diskCache?.blocking.entries().count { $0.metadata.kind == .derived } ?? 0
    }

    @Test("C23 at most 1,024 images wait for their write, further ones are not kept")
    func limit() async throws {
        #expect(ImagePipeline.Configuration.DerivedImages.automatic.queueLimit == 1_024)
        let proceed = try await loadSizes(40)
        try await proceed()
        // The first one does not wait any more.
        #expect(try derivedCount() == 1 + 30)
    }

    @Test("C23 C17 when the background time expires, images that wait are given up, and the one in progress is written")
    func expiry() async throws {
        let proceed = try await loadSizes(20)
        environment.exhaust()
        try await proceed()
        #expect(try derivedCount() == 1 && environment.openTasks == 0)
        _ = try await pipeline.image(for: ImageRequest(request.name, size: PixelSize(width: 50, height: 1)))
        try await eventually("the pipeline is idle") { pipeline.isIdle }
        #expect(try derivedCount() == 1)
        environment.renew()
        _ = try await pipeline.image(for: ImageRequest(request.name, size: PixelSize(width: 60, height: 1)))
        try await eventually("the pipeline is idle") { pipeline.isIdle }
        #expect(try derivedCount() == 2 && environment.openTasks == 0)
    }
}
