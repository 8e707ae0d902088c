import EideticCore
import Testing

@Suite("Shared work", .timeLimit(.minutes(1)))
struct TaskCoalescerTests {
    typealias Coalescer = TaskCoalescer<String, Int, Int>

    /// Opened once; all who wait go on.
    final class Gate: Sendable {
        private let stream: AsyncStream<Void>
        private let open_: AsyncStream<Void>.Continuation
        init() { (stream, open_) = AsyncStream.makeStream() }
        func open() { open_.finish() }
        func wait() async { for await _ in stream {} }
    }

    /// Waits until `condition` holds, yielding the thread in between.
    func wait(until condition: () -> Bool) async { while !condition() { await Task.yield() } }

    @Test("L02 callers who ask at the same time share one job")
    func shares() async throws {
        let work = Coalescer(), gate = Gate()
        let answers = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await work.value(for: "a") { _ throws(EideticError) in
                        await gate.wait()
                        return 7
                    }
                }
            }
            await wait { work.statistics.joined == 99 }
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: 7, count: 100))
        #expect(work.statistics.started == 1)
        #expect(work.activeJobCount == 0)
    }

    @Test("L02 ninety-nine who cancel leave the hundredth unharmed")
    func cancelsAlone() async throws {
        let work = Coalescer(), gate = Gate()
        let tasks = (0..<100).map { _ in
            Task {
                try await work.value(for: "a") { job throws(EideticError) in
                    await gate.wait()
                    return job.context.isCancelled ? 0 : 7
                }
            }
        }
        await wait { work.statistics.joined == 99 }
        for task in tasks.dropLast() { task.cancel() }
        for task in tasks.dropLast() {
            await #expect(throws: EideticError.self) { try await task.value }
        }
        gate.open()
        #expect(try await tasks[99].value == 7)
    }

    @Test("L02 two thousand who leave in between leave the others unharmed")
    @MainActor
    func manyLeave() async {
        let work = Coalescer(), gate = Gate(), count = 3_000
        var answered: [Int] = []
        let tasks = (0..<count).map { index in
            Task {
                let answer = try? await work.value(for: "a") { _ throws(EideticError) in
                    await gate.wait()
                    return 7
                }
                if answer == 7 { answered.append(index) }
            }
        }
        while work.statistics.joined < count - 1 { await Task.yield() }
        for (index, task) in tasks.enumerated() where !index.isMultiple(of: 3) { task.cancel() }
        for (index, task) in tasks.enumerated() where !index.isMultiple(of: 3) { await task.value }
        gate.open()
        for task in tasks { await task.value }
        #expect(answered.sorted() == Array(stride(from: 0, to: count, by: 3)))
    }

    @Test("L02 the last one out cancels the job, and a new caller starts a new one")
    func lastOneOut() async throws {
        let work = Coalescer(), gate = Gate(), ended = Gate()
        let task = Task {
            try await work.value(for: "a") { job throws(EideticError) in
                await gate.wait()
                if job.context.isCancelled { ended.open() }
                return 1
            }
        }
        await wait { work.activeJobCount == 1 }
        task.cancel()
        await #expect(throws: EideticError.self) { try await task.value }
        #expect(work.activeJobCount == 0)
        gate.open()
        await ended.wait()
        #expect(try await work.value(for: "a") { _ throws(EideticError) in 2 } == 2)
        #expect(work.statistics.started == 2)
    }

    @Test("L02 a job is as urgent as the most urgent caller, live")
    func priorityFollows() async throws {
        let work = Coalescer(), gate = Gate()
        let seen = Guarded<JobContext?>(nil)
        let first = JobContext(priority: .low), second = JobContext(priority: .normal)
        let body: @Sendable (Coalescer.Job) async throws(EideticError) -> Int = { job throws(EideticError) in
            seen.withLock { $0 = job.context }
            await gate.wait()
            return 1
        }
        let one = Task { try await work.value(for: "a", context: first, operation: body) }
        await wait { seen.withLock { $0 } != nil }
        #expect(seen.withLock { $0?.priority } == .low)
        let two = Task { try await work.value(for: "a", context: second, operation: body) }
        await wait { work.statistics.joined == 1 }
        await wait { seen.withLock { $0?.priority } == .normal }
        first.priority = .high
        #expect(seen.withLock { $0?.priority } == .high)
        first.priority = .low
        #expect(seen.withLock { $0?.priority } == .normal)
        gate.open()
        _ = try await (one.value, two.value)
    }

    @Test("L02 of two urgent callers who join at the same time neither relies on the other")
    func joinTogether() async throws {
        for round in 0..<300 {
            let work = Coalescer(), gate = Gate()
            let seen = Guarded<JobContext?>(nil)
            let body: @Sendable (Coalescer.Job) async throws(EideticError) -> Int = { job throws(EideticError) in
                seen.withLock { $0 = job.context }
                await gate.wait()
                return 1
            }
            let first = Task { try await work.value(for: "a", context: JobContext(priority: .low), operation: body) }
            await wait { seen.withLock { $0 } != nil }
            let others = (0..<2).map { _ in
                Task { try await work.value(for: "a", context: JobContext(priority: .high), operation: body) }
            }
            await wait { work.statistics.joined == 2 && seen.withLock { $0?.priority } != .low }
            #expect(seen.withLock { $0?.priority } == .high, "round \(round)")
            gate.open()
            for task in [first] + others { _ = try await task.value }
        }
    }

    @Test("L08 progress reaches all, and who joins late hears the latest at once")
    func progress() async throws {
        let work = Coalescer(), gate = Gate(), reported = Gate()
        let heard = Guarded<[Int]>([])
        let one = Task {
            try await work.value(for: "a") { job throws(EideticError) in
                job.report(5)
                reported.open()
                await gate.wait()
                return 1
            }
        }
        await reported.wait()
        let two = Task {
            try await work.value(for: "a", onProgress: { value in heard.withLock { $0.append(value) } }) {
                _ throws(EideticError) in 2
            }
        }
        await wait { work.statistics.joined == 1 && heard.withLock { !$0.isEmpty } }
        gate.open()
        #expect(try await one.value == 1)
        #expect(try await two.value == 1)
        #expect(heard.withLock { $0 } == [5])
    }

    @Test("L02 a caller who is cancelled before it asks starts nothing")
    func cancelledBefore() async {
        let work = Coalescer()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await work.value(for: "a") { _ throws(EideticError) in 1 }
        }
        await #expect(throws: EideticError.self) { try await task.value }
        #expect(work.statistics.started == 0)
    }

    @Test("L02 random joins and cancels: every caller gets exactly one answer")
    func storm() async {
        let work = Coalescer()
        let answers = await withTaskGroup(of: Int.self) { group in
            for index in 0..<2_000 {
                group.addTask {
                    let task = Task {
                        try await work.value(for: "\(index % 7)") { _ throws(EideticError) in
                            for _ in 0..<index % 5 { await Task.yield() }
                            return 1
                        }
                    }
                    if index % 3 == 0 { task.cancel() }
                    _ = await task.result
                    return 1
                }
            }
            return await group.reduce(0, +)
        }
        #expect(answers == 2_000)
        await wait { work.activeJobCount == 0 }
    }
}
