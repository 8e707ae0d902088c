import Eidetic
import EideticCore
import EideticTestSupport
import EideticViews
import Testing

@Suite("Options", .timeLimit(.minutes(2)))
struct OptionTests {
    @Test("L06 the public options are those of loading and decoding: cache, priority and view are set elsewhere")
    func places() throws {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        let list = String(decoding: try FileSystem().contents(of: root + "/docs/api/Eidetic.txt"), as: UTF8.self)
        let lines = list.split(separator: "\n")
        let options = lines.filter { $0.contains(" | static let ") && $0.hasSuffix(": ImageOptions") }
        let expected = [
            "allowInvalidCertificates", "allowsPartial", "avoidDecode", "continueInBackground", "firstFrameOnly",
            "handleCookies", "matchAnimatedImage", "preloadAllFrames", "progressive", "refreshCached", "retryFailed",
            "scaleDownLargeImages", "transformAnimatedImage", "transformVectorImage",
        ]
        #expect(options.map { $0.prefix { $0 != " " } } == expected.map { "ImageOptions.\($0)" })
        #expect(ImageOptions.names.map(\.name) == expected)
    }

    @Test("L06 continueInBackground: a background task is open during the load; at its expiry the load is cancelled")
    func background() async throws {
        let environment = BackgroundTaskEnvironment(), png = try TestImage.png(width: 8, height: 6)
        // The second gate never opens: a load to be cancelled must not finish before.
        let gate = Gate(), closed = Gate()
        var configuration = ImagePipeline.Configuration()
        configuration.environment = environment
        let pipeline = ImagePipeline(configuration)
        func makeRequest(named name: String, waitingFor gate: Gate) -> ImageRequest {
            let origin = ImageRequest.Resource.provider(name: name) { () throws(EideticError) in
                await gate.wait()
                return png
            }
            return ImageRequest(origin, options: .continueInBackground)
        }
        let expired = Task { try await pipeline.image(for: makeRequest(named: "one", waitingFor: closed)) }
        try await eventually("number of open background tasks", is: 1) { environment.openTasks.count }
        environment.expire()
        let error = await #expect(throws: EideticError.self) { try await expired.value }
        #expect(error?.code == .cancelled)
        #expect(environment.openTasks.isEmpty)
        gate.open()
        #expect(try await pipeline.image(for: makeRequest(named: "two", waitingFor: gate)).size.width == 8)
        #expect(environment.openTasks.isEmpty)
        environment.refusesTasks = true
        let refused = await #expect(throws: EideticError.self) {
            try await pipeline.image(for: makeRequest(named: "three", waitingFor: closed))
        }
        #expect(refused?.code == .cancelled)
        // Without the option there is no background task.
        let plain = makeRequest(named: "four", waitingFor: gate).with(options: [])
        #expect(try await pipeline.image(for: plain).size.width == 8)
        #expect(environment.startedNames == ["one", "two", "three"].map { "load \($0)" })
    }

    @Test("L06 L14 cancelsEarlierLoad off: the slot's earlier load continues and completes, and is not shown")
    @MainActor
    func keepsEarlierLoad() async throws {
        let gate = Gate(), png = try TestImage.png(width: 8, height: 6), display = RecordingDisplay()
        let slow = ImageRequest(
            .provider(name: "slow") { () throws(EideticError) in
                await gate.wait()
                return png
            }
        )
        let next = ImageRequest(.bytes(try TestImage.png(width: 4, height: 3)))
        let slot = ImageSlot(display: display, pipeline: ImagePipeline(.init()), gate: DisplayGate())
        var outcomes: [String] = []
        slot.load(slow) { result in outcomes.append((try? result.get()) == nil ? "slow failed" : "slow") }
        slot.load(next, presentation: .init(cancelsEarlierLoad: false)) { _ in outcomes.append("next") }
        try await eventually("outcomes", is: ["next"]) { outcomes }
        gate.open()
        try await eventually("outcomes", is: ["next", "slow"]) { outcomes }
        #expect(display.images.last == .image(PixelSize(width: 4, height: 3), hasTransition: false))
        guard case .shown = slot.state else { Issue.record("\(slot.state)"); return }
    }

    @Test("L06 L05 the priority high goes to the head of the queue, low to its end")
    @MainActor
    func priorities() async throws {
        let gate = Gate(), png = try TestImage.png(width: 8, height: 6)
        let server = try ScriptedOrigin { _ in [.wait(gate), .response(200, headers: [:], body: png)] }
        var downloads = ImagePipeline.Configuration().downloads
        downloads.maximumConcurrent = 1
        let pipeline = ImagePipeline(.init(downloader: Downloader(downloads)))
        let completions = Counter()
        func startLoad(_ name: String, priority: LoadPriority = .normal) throws {
            pipeline.load(ImageRequest("\(server.url)/\(name)", priority: priority)) { _ in completions.increment() }
        }
        try startLoad("first")
        await server.waitForRequests(count: 1)
        try startLoad("low", priority: .low)
        try startLoad("normal")
        try startLoad("high", priority: .high)
        try await eventually("number of waiting downloads", is: 3) { pipeline.configuration.downloader.counts.waiting }
        gate.open()
        try await expectExactly(4, of: completions, in: pipeline)
        #expect(server.requests.map(\.path) == ["/first", "/high", "/normal", "/low"])
    }

    @Test("L06 handleCookies sends and stores cookies; without it there are none")
    func cookies() async throws {
        let png = try TestImage.png(width: 8, height: 6)
        let server = try ScriptedOrigin { _ in [.response(200, headers: ["Set-Cookie": "a=1; Path=/"], body: png)] }
        let pipeline = ImagePipeline(.init())
        for (name, options) in [("1", ImageOptions.handleCookies), ("2", .handleCookies), ("3", [])] {
            _ = try await pipeline.image(for: ImageRequest("\(server.url)/\(name)", options: options))
        }
        #expect(server.requests.map { $0.headers["cookie"] } == [nil, "a=1", nil])
    }
}

/// An environment whose background tasks a test can inspect and expire.
private final class BackgroundTaskEnvironment: ApplicationEnvironment {
    private struct State {
        var lastIdentifier: UInt64 = 0
        var refusesTasks = false
        var openTasks: [BackgroundTaskIdentifier: @Sendable () -> Void] = [:]
        var startedNames: [String] = []
    }

    private let state = Guarded(State())

    var openTasks: [BackgroundTaskIdentifier] { state.withLock { Array($0.openTasks.keys) } }
    var startedNames: [String] { state.withLock { $0.startedNames } }

    var refusesTasks: Bool {
        get { state.withLock { $0.refusesTasks } }
        set { state.withLock { $0.refusesTasks = newValue } }
    }

    func expire() {
        for handler in state.withLock({ Array($0.openTasks.values) }) { handler() }
    }

    func beginBackgroundTask(
        named name: String,
        expirationHandler: @escaping @Sendable () -> Void
    ) -> BackgroundTaskIdentifier {
        state.withLock { state in
            state.startedNames.append(name)
            if state.refusesTasks { return .invalid }
            state.lastIdentifier += 1
            let identifier = BackgroundTaskIdentifier(rawValue: state.lastIdentifier)
            state.openTasks[identifier] = expirationHandler
            return identifier
        }
    }

    func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) {
        _ = state.withLock { $0.openTasks.removeValue(forKey: identifier) }
    }

    let phases = AsyncStream<ApplicationPhase> { $0.finish() }
    let memoryPressure = AsyncStream<MemoryPressure> { $0.finish() }
}
