import EideticCore
import EideticSandbox
import EideticTestSupport
import Testing

@Suite("the order of images in the sandbox", .timeLimit(.minutes(1)))
struct DecodeTurnsTests {
    /// Threads that may wait.
    private let threads = WorkPool(name: "waiting", maximumThreadCount: 8)

    /// The numbers of the images in the order in which they began or were given memory.
    private final class Record: Sendable {
        let numbers = Guarded<[Int]>([])
    }

    private static func turns(_ change: (inout DecodeTurns.Settings) -> Void = { _ in }) -> DecodeTurns {
        var settings = DecodeTurns.Settings()
        (settings.limit, settings.originLimit) = (4, 2)
        (settings.memory, settings.originMemory) = (ByteCount(100), ByteCount(70))
        change(&settings)
        return DecodeTurns(settings: settings)
    }

    /// Starts a task that waits for memory, and records its number then.
    private func wait(
        for memory: Int,
        origin: String,
        number: Int,
        in turns: DecodeTurns,
        record: Record
    ) async throws -> Task<Void, any Error> {
        let count = turns.memoryWaitingCount
        let task = Task { [threads] in
            try await threads.run { context throws(EideticError) in
                _ = try turns.reserveBlocking(memory, origin: origin, context: context)
                record.numbers.withLock { $0.append(number) }
            }
        }
        try await eventually("waits for memory", is: count + 1) { turns.memoryWaitingCount }
        return task
    }

    @Test("F07 an origin has no more images in progress than its share, and others go on")
    func shares() async throws {
        let turns = Self.turns()
        let first = try await turns.begin("a", context: JobContext())
        _ = try await turns.begin("a", context: JobContext())
        let third = Task { try await turns.begin("a", context: JobContext()) }
        try await eventually("waits to begin", is: 1) { turns.waitingCount }
        let other = try await turns.begin("b", context: JobContext())
        #expect(turns.count == 3 && turns.waitingCount == 1)
        other.end()
        #expect(turns.waitingCount == 1)
        first.end()
        _ = try await third.value
        #expect(turns.count == 2 && turns.waitingCount == 0)
    }

    @Test("F07 two origins with many images do not hold back a third one")
    func fairness() async throws {
        let turns = Self.turns(), record = Record()
        let first = try await turns.begin("a", context: JobContext())
        for origin in ["a", "b", "b"] { _ = try await turns.begin(origin, context: JobContext()) }
        var tasks: [Task<Void, any Error>] = []
        for (number, origin) in ["a", "b", "c"].enumerated() {
            tasks.append(
                Task {
                    _ = try await turns.begin(origin, context: JobContext())
                    record.numbers.withLock { $0.append(number) }
                }
            )
            try await eventually("waits to begin", is: number + 1) { turns.waitingCount }
        }
        first.end()
        try await tasks[2].value
        #expect(record.numbers.withLock { $0 } == [2])
        for task in tasks { task.cancel() }
    }

    @Test("F07 of images that wait to begin the most urgent is first, and a cancelled one leaves")
    func priorities() async throws {
        let turns = Self.turns { ($0.limit, $0.originLimit) = (1, 1) }, record = Record()
        let running = try await turns.begin("a", context: JobContext())
        var tasks: [Task<Void, any Error>] = []
        for (number, priority) in [LoadPriority.low, .normal, .high, .normal].enumerated() {
            tasks.append(
                Task {
                    let turn = try await turns.begin("\(number)", context: JobContext(priority: priority))
                    record.numbers.withLock { $0.append(number) }
                    turn.end()
                }
            )
            try await eventually("waits to begin", is: number + 1) { turns.waitingCount }
        }
        tasks[1].cancel()
        let cancelled = await tasks[1].result
        #expect(throws: EideticError.self) { try cancelled.get() }
        running.end()
        for number in [0, 2, 3] { try await tasks[number].value }
        #expect(record.numbers.withLock { $0 } == [2, 3, 0] && turns.count == 0)
    }

    @Test("F07 an origin has no more memory than its share, however much its images need")
    func memoryOfOrigins() async throws {
        let turns = Self.turns(), record = Record()
        let first = try turns.reserveBlocking(1_000, origin: "a", context: JobContext())
        #expect(first == 70)
        let second = try await wait(for: 1_000, origin: "a", number: 1, in: turns, record: record)
        // As much as the first has left.
        let other = try turns.reserveBlocking(30, origin: "b", context: nil)
        #expect(other == 30 && turns.availableMemory == 0)
        turns.release(other, origin: "b")
        #expect(record.numbers.withLock { $0 }.isEmpty)
        turns.release(first, origin: "a")
        try await second.value
        #expect(turns.availableMemory == 30)
    }

    @Test("F07 the image that needs the least memory goes first, and overtakes larger ones a limited number of times")
    func smallImagesFirst() async throws {
        let turns = Self.turns { $0.overtakingLimit = 2 }, record = Record()
        let used = try ["x", "y"].map { try turns.reserveBlocking(50, origin: $0, context: nil) }
        var tasks: [Task<Void, any Error>] = []
        for (number, memory) in [60, 40, 30, 20].enumerated() {
            tasks.append(
                try await wait(for: memory, origin: "\(number)", number: number, in: turns, record: record)
            )
        }
        turns.release(used[0], origin: "x")
        // 20 and 30, which have overtaken the 60; 40 is not given what is left.
        try await tasks[3].value
        try await tasks[2].value
        #expect(Set(record.numbers.withLock { $0 }) == [2, 3] && turns.memoryWaitingCount == 2)
        turns.release(20, origin: "3")
        turns.release(30, origin: "2")
        #expect(turns.memoryWaitingCount == 2 && turns.availableMemory == 50)
        turns.release(used[1], origin: "y")
        for task in tasks { try await task.value }
        #expect(turns.memoryWaitingCount == 0 && turns.availableMemory == 0)
    }

    @Test("F07 a wait for memory can be cancelled")
    func cancellation() async throws {
        let turns = Self.turns(), context = JobContext()
        let used = try ["x", "y"].map { try turns.reserveBlocking(70, origin: $0, context: nil) }
        #expect(turns.availableMemory == -40)
        let waiting = Task { [threads] in
            try await threads.run(in: context) { context throws(EideticError) in
                try turns.reserveBlocking(10, origin: "z", context: context)
            }
        }
        try await eventually("waits for memory", is: 1) { turns.memoryWaitingCount }
        context.cancel()
        let error = await waiting.result
        #expect(throws: EideticError.self) { _ = try error.get() }
        for (origin, memory) in zip(["x", "y"], used) { turns.release(memory, origin: origin) }
        #expect(turns.memoryWaitingCount == 0 && turns.availableMemory == 100)
    }
}
