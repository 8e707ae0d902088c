import Eidetic
import EideticTestSupport
import Glibc
import Testing

@Suite("Storms", .timeLimit(.minutes(30)))
struct StormTests {
    /// How often, in tests and, with EIDETIC_TORTURE=1, at full count.
    private static func count(_ short: Int, full: Int) -> Int { getenv("EIDETIC_TORTURE") == nil ? short : full }

    @Test("L21 loads with random cancels, failures, joins and priorities: every one has exactly one terminal event")
    func inProcess() async throws {
        let png = try Picture.png(width: 4, height: 3)
        var configuration = ImagePipeline.Configuration()
        configuration.memoryLimit = 4_000
        let pipeline = ImagePipeline(configuration)
        let count = Self.count(10_000, full: 1_000_000), width = 64
        var random = Seeded(seed: 42)
        let plans = (0..<count).map { _ in Plan(&random) }
        let ends = try await withThrowingTaskGroup(of: Ends.self) { group in
            for worker in 0..<width {
                group.addTask {
                    var ends = Ends()
                    for index in stride(from: worker, to: count, by: width) {
                        ends.add(await plans[index].run(pipeline, png))
                    }
                    return ends
                }
            }
            return try await group.reduce(into: Ends()) { $0.merge($1) }
        }
        #expect(ends.wrong == 0)
        #expect(ends.finished + ends.failed + ends.cancelled == count)
        #expect(ends.finished > 0 && ends.failed > 0 && ends.cancelled > 0)
        // A caller who is cancelled has its answer before the load itself has noticed.
        await until { pipeline.isIdle && pipeline.statistics.loads == count }
        #expect(pipeline.statistics.joined > 0)
    }
}

/// What becomes of one load.
private struct Plan: Sendable {
    let picture: Int
    let fails: Bool
    let yields: Int
    let cancelsAfter: Int?
    let priority: LoadPriority

    init(_ random: inout Seeded) {
        picture = Int.random(in: 0..<50, using: &random)
        fails = picture % 7 == 0
        yields = Int.random(in: 0..<6, using: &random)
        cancelsAfter = Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 0..<8, using: &random) : nil
        priority = LoadPriority.allCases.randomElement(using: &random) ?? .normal
    }

    /// Runs the load; gives its terminal events.
    func run(_ pipeline: ImagePipeline, _ png: [UInt8]) async -> [ImageEvent] {
        let (fails, yields) = (fails, yields)
        let origin = ImageOrigin.provider(name: "\(picture)") { () throws(EideticError) in
            for _ in 0..<yields { await Task.yield() }
            if fails { throw EideticError(.connectionLost, "as planned") }
            return png
        }
        let request = ImageRequest(origin, priority: priority)
        let task = Task {
            var ends: [ImageEvent] = []
            for await event in pipeline.events(for: request) where event.isTerminal { ends.append(event) }
            return ends
        }
        if let cancelsAfter {
            for _ in 0..<cancelsAfter { await Task.yield() }
            task.cancel()
        }
        return await task.value
    }
}

/// How the loads ended.
private struct Ends: Sendable {
    var finished = 0
    var failed = 0
    var cancelled = 0
    var wrong = 0

    mutating func add(_ events: [ImageEvent]) {
        guard events.count == 1 else {
            wrong += 1
            return
        }
        switch events[0] {
        case .finished: finished += 1
        case .failed(let error): if error.code == .cancelled { cancelled += 1 } else { failed += 1 }
        case .progress, .cached: wrong += 1
        }
    }

    mutating func merge(_ other: Ends) {
        finished += other.finished
        failed += other.failed
        cancelled += other.cancelled
        wrong += other.wrong
    }
}

/// Numbers that are the same in every run (SplitMix64).
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
