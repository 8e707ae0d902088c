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

    private var downloader: Downloader {
        var configuration = Downloader.Configuration()
        configuration.environment = environment
        configuration.partialDirectory = nil
        return Downloader(configuration)
    }

    private var names: [String] { ((try? FileSystem().entryNames(in: directory.path)) ?? []).sorted() }

    /// Creates an origin that sends half of the image, waits for the gate, and sends the rest.
    private func makeOrigin(_ gate: Gate) throws -> ScriptedOrigin {
        let (image, half) = (image, image.count / 2)
        return try ScriptedOrigin { _ in
            [
                .head(200, headers: ["Content-Length": "\(image.count)", "ETag": "\"v1\""]),
                .send(Array(image[..<half])), .wait(gate), .send(Array(image[half...])),
            ]
        }
    }

    @Test("C17 one background task covers the download of files, from the call to the last rename")
    @MainActor func covers() async throws {
        let gate = Gate(), origin = try makeOrigin(gate), downloader = downloader
        let saves = try (0..<3).map { number in
            let request = try FetchRequest(url: "\(origin.url)/\(number)"), path = directory.path(of: "\(number).png")
            return Task.immediate { try await downloader.save(request, to: path) }
        }
        #expect(environment.log == ["begin 1"])
        gate.open()
        for save in saves { _ = try await save.value }
        #expect(environment.log == ["begin 1", "end 1"])
        #expect(names == ["0.png", "1.png", "2.png"])
    }

    @Test("C17 when the background time expires, the download of a file is cancelled, and leaves no file")
    func expires() async throws {
        let gate = Gate(), arrived = Gate(), origin = try makeOrigin(gate), downloader = downloader
        let request = try FetchRequest(url: origin.url), path = directory.path(of: "a.png")
        let save = Task {
            await failure { () async throws(EideticError) in
                try await downloader.save(request, to: path) { if $0.received > 0 { arrived.open() } }
            }
        }
        await arrived.wait()
        #expect(names.count == 1)
        environment.expire()
        #expect(await save.value?.code == .cancelled)
        #expect(environment.log == ["begin 1", "end 1"])
        #expect(names == [])
        gate.open()
    }

    @Test("C17 a download into a file is refused when the background time has expired; one into memory is not")
    func refused() async throws {
        let gate = Gate(), origin = try makeOrigin(gate), downloader = downloader
        gate.open()
        environment.exhaust()
        let request = try FetchRequest(url: origin.url), path = directory.path(of: "a.png")
        let error = await failure { () async throws(EideticError) in try await downloader.save(request, to: path) }
        #expect(error?.code == .cancelled)
        #expect(origin.requests.isEmpty)
        #expect(try await downloader.fetch(request).bytes == image)
        #expect(environment.log == ["refuse"])
    }

    @Test(
        "C17 a part of a body is stored within a background task, and not at all without one",
        arguments: [true, false]
    )
    func partialBody(isGranted: Bool) async throws {
        let (image, plan) = (image, FaultPlan()), environment = environment
        let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: \(image.count)\r\n\r\n"
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
