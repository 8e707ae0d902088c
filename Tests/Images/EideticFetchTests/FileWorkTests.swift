import EideticCore
import EideticFetch
import EideticHTTP
import EideticTestSupport
import Testing

@Suite("Files in background tasks", .timeLimit(.minutes(1)))
struct FileWorkTests {
    private let directory: TemporaryDirectory
    private let image = Fixture.image(length: 200_000)
    private let environment = RecordingEnvironment()

    init() throws { directory = try TemporaryDirectory(named: "work") }

    @Test(
        "C17 a part of a body is stored within a background task, and not at all without one",
        arguments: [true, false]
    )
    func partialBody(isGranted: Bool) async throws {
        let (image, plan) = (image, FaultPlan()), environment = environment
        let fields = "ETag: \"v1\"\r\nAccept-Ranges: bytes\r\nContent-Length: \(image.count)"
        let head = "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n"
        let origin = try ScriptedOrigin { _ in [.send(Array(head.utf8) + image[..<100_000]), .close] }
        var configuration = Downloader.Configuration()
        configuration.environment = environment
        configuration.partialDirectory = directory.path(of: "parts")
        configuration.fileSystem = FileSystem(observer: plan)
        let openTasks = Guarded([Int]())
        plan.before(.write) { openTasks.withLock { [count = environment.openTasks] in $0.append(count) } }
        if !isGranted { environment.exhaust() }
        let error = await failure { [configuration] () async throws(EideticError) in
            try await Downloader(configuration).fetch(url: origin.url)
        }
        #expect(error?.isTransient == true)
        #expect(openTasks.withLock { $0 } == (isGranted ? [1] : []))
        // The key of the directory, and the part.
        #expect(plan.count(of: .write) == (isGranted ? 2 : 0))
        #expect(environment.openTasks == 0)
    }
}
