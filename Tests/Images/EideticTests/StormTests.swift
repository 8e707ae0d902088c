import Eidetic
import EideticTestSupport
import Testing

@Suite("Storms", .timeLimit(.minutes(30)))
struct StormTests {
    @Test("L21 loads with random cancels, failures, joins and priorities: every one has exactly one terminal event")
    func inProcess() async throws {
        let png = try TestImage.png(width: 4, height: 3)
        var configuration = ImagePipeline.Configuration()
        configuration.memoryLimit = 4_000
        let pipeline = ImagePipeline(configuration)
        let count = Torture.repetitions(3_000, full: 1_000_000), width = 64
        var random = Seeded(seed: 42)
        let loads = (0..<count).map { _ in RandomLoad(using: &random) }
        let outcomes = try await withThrowingTaskGroup(of: Outcomes.self) { group in
            for worker in 0..<width {
                group.addTask {
                    var ends = Outcomes()
                    for index in stride(from: worker, to: count, by: width) {
                        ends.add(await loads[index].run(in: pipeline, png: png))
                    }
                    return ends
                }
            }
            return try await group.reduce(into: Outcomes()) { $0.merge($1) }
        }
        #expect(outcomes.invalid == 0)
        #expect(outcomes.finished + outcomes.failed + outcomes.cancelled == count)
        #expect(outcomes.finished > 0 && outcomes.failed > 0 && outcomes.cancelled > 0)
        // A cancelled caller gets its event before the load itself ends.
        try await eventually("the pipeline is idle after \(count) loads") {
            pipeline.isIdle && pipeline.statistics.loads == count
        }
        #expect(pipeline.statistics.joined > 0)
    }

    @Test("L21 L04 L07 the same with nginx, with time-outs, broken images and all kinds of options", .needsNginx)
    func overNginx() async throws {
        let fixture = try await PipelineFixture(.init(server: "location /hang/ { limit_rate 1; }"))
        let bytes = try TestImage.png(width: 40, height: 30)
        for index in 0..<40 {
            try fixture.server.addFile(bytes, at: "\(index).png")
            try fixture.server.addFile(Array(bytes.prefix(bytes.count - 100)), at: "broken/\(index).png")
        }
        try fixture.server.addFile(bytes, at: "hang/0.png")
        let url = fixture.server.url, pipeline = fixture.pipeline
        let count = Torture.repetitions(200, full: 10_000), width = 32
        var random = Seeded(seed: 7)
        let loads = (0..<count).map { _ in RandomServerLoad(using: &random) }
        let outcomes = try await withThrowingTaskGroup(of: Outcomes.self) { group in
            for worker in 0..<width {
                group.addTask {
                    var ends = Outcomes()
                    for index in stride(from: worker, to: count, by: width) {
                        if index % 50 == 0 { pipeline.removeAllFromMemory() }
                        ends.add(try await loads[index].run(in: pipeline, baseURL: url))
                    }
                    return ends
                }
            }
            return try await group.reduce(into: Outcomes()) { $0.merge($1) }
        }
        #expect(outcomes.invalid == 0)
        #expect(outcomes.finished + outcomes.failed + outcomes.cancelled == count)
        #expect(outcomes.finished > 0 && outcomes.failed > 0 && outcomes.cancelled > 0)
        try await eventually("pipeline and downloader are idle") {
            pipeline.isIdle && pipeline.configuration.downloader.counts == (waiting: 0, running: 0)
        }
        // A plain load succeeds afterwards.
        let plain = ImageRequest(.remote(try FetchRequest(url: "\(url)/0.png")), options: .retryFailed)
        #expect(try await pipeline.image(for: plain).size == PixelSize(width: 40, height: 30))
    }
}

/// One random load.
private struct RandomLoad: Sendable {
    let number: Int
    let fails: Bool
    let yields: Int
    let cancelsAfter: Int?
    let priority: LoadPriority

    init(using random: inout Seeded) {
        number = Int.random(in: 0..<50, using: &random)
        fails = number % 7 == 0
        yields = Int.random(in: 0..<6, using: &random)
        cancelsAfter = Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 0..<8, using: &random) : nil
        priority = LoadPriority.allCases.randomElement(using: &random) ?? .normal
    }

    /// Runs the load, and returns its terminal events.
    func run(in pipeline: ImagePipeline, png: [UInt8]) async -> [ImageTask.Event] {
        let (fails, yields) = (fails, yields)
        let resource = ImageRequest.Resource.provider(name: "\(number)") { () throws(EideticError) in
            for _ in 0..<yields { await Task.yield() }
            if fails { throw EideticError(.connectionLost, message: "as planned") }
            return png
        }
        return await terminalEvents(
            of: ImageRequest(resource, priority: priority),
            in: pipeline,
            cancelledAfter: cancelsAfter
        )
    }
}

/// One random load from a server.
private struct RandomServerLoad: Sendable {
    let path: String
    let options: ImageOptions
    let cachePolicy: ImageRequest.CachePolicy
    let width: Int?
    let cancelsAfter: Int?
    let priority: LoadPriority

    init(using random: inout Seeded) {
        let number = Int.random(in: 0..<40, using: &random)
        switch Int.random(in: 0..<40, using: &random) {
        case 0: path = "hang/0.png"
        case 1...3: path = "broken/\(number).png"
        case 4...6: path = "missing/\(number).png"
        default: path = "\(number).png"
        }
        let all: [ImageOptions] = [[], .refreshCached, .progressive, .preloadAllFrames]
        options = all.randomElement(using: &random) ?? []
        var withBytes = ImageRequest.CachePolicy.standard
        withBytes.includesBytes = true
        let policies = [.standard, .memoryOnly, .cachedOnly, .reload, .noStore, .afterStorage, withBytes]
        cachePolicy = policies.randomElement(using: &random) ?? .standard
        width = [nil, nil, 10, 20].randomElement(using: &random) ?? nil
        cancelsAfter = Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 0..<400, using: &random) : nil
        priority = LoadPriority.allCases.randomElement(using: &random) ?? .normal
    }

    /// Runs the load, and returns its terminal events.
    func run(in pipeline: ImagePipeline, baseURL url: String) async throws -> [ImageTask.Event] {
        var remote = try FetchRequest(url: "\(url)/\(path)")
        if path.hasPrefix("hang") { remote.timeout = .milliseconds(150) }
        let request = ImageRequest(
            .remote(remote),
            rendering: .init(size: width.map { PixelSize(width: $0, height: $0) }),
            priority: priority,
            options: options,
            cachePolicy: cachePolicy
        )
        return await terminalEvents(of: request, in: pipeline, cancelledAfter: cancelsAfter)
    }
}

/// Returns the terminal events of a load that is cancelled after `turns` yields, if it is.
private func terminalEvents(
    of request: ImageRequest,
    in pipeline: ImagePipeline,
    cancelledAfter turns: Int?
) async -> [ImageTask.Event] {
    let task = Task {
        var events: [ImageTask.Event] = []
        for await event in pipeline.task(for: request).events where event.isTerminal { events.append(event) }
        return events
    }
    if let turns {
        for _ in 0..<turns { await Task.yield() }
        task.cancel()
    }
    return await task.value
}

/// The numbers of loads by their outcome.
private struct Outcomes: Sendable {
    var finished = 0
    var failed = 0
    var cancelled = 0
    var invalid = 0

    mutating func add(_ events: [ImageTask.Event]) {
        guard events.count == 1 else {
            invalid += 1
            return
        }
        switch events[0] {
        case .finished: finished += 1
        case .failed(let error): if error.code == .cancelled { cancelled += 1 } else { failed += 1 }
        case .progress, .preview, .cached: invalid += 1
        }
    }

    mutating func merge(_ other: Outcomes) {
        finished += other.finished
        failed += other.failed
        cancelled += other.cancelled
        invalid += other.invalid
    }
}

/// A generator whose numbers are the same in every run (SplitMix64).
private struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var bits = state
        bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
        return bits ^ bits >> 31
    }
}
