import EideticCore
import EideticTestSupport
import Testing

@Suite("Task coalescer", .timeLimit(.minutes(1)))
struct TaskCoalescerTests {
    typealias Coalescer = TaskCoalescer<String, Int, Int>

    @Test("L02 concurrent callers share one job")
    func shares() async throws {
        let coalescer = Coalescer(), gate = Gate()
        let results = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await coalescer.value(for: "a") { _ throws(EideticError) in
                        await gate.wait()
                        return 7
                    }
                }
            }
            try await eventually("number of joined callers", is: 99) { coalescer.statistics.joined }
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results == Array(repeating: 7, count: 100))
        #expect(coalescer.statistics.started == 1)
        #expect(coalescer.activeJobCount == 0)
    }

    @Test("L02 cancelling 99 of 100 callers does not affect the last one")
    func cancelsAlone() async throws {
        let coalescer = Coalescer(), gate = Gate()
        let tasks = (0..<100).map { _ in
            Task {
                try await coalescer.value(for: "a") { job throws(EideticError) in
                    await gate.wait()
                    return job.context.isCancelled ? 0 : 7
                }
            }
        }
        try await eventually("number of joined callers", is: 99) { coalescer.statistics.joined }
        for task in tasks.dropLast() { task.cancel() }
        for task in tasks.dropLast() {
            await #expect(throws: EideticError.self) { try await task.value }
        }
        gate.open()
        #expect(try await tasks[99].value == 7)
    }

    @Test("L02 cancelling 2,000 of 3,000 callers does not affect the others")
    @MainActor
    func manyLeave() async throws {
        let coalescer = Coalescer(), gate = Gate(), count = 3_000
        var completed: [Int] = []
        let tasks = (0..<count).map { index in
            Task {
                let result = try? await coalescer.value(for: "a") { _ throws(EideticError) in
                    await gate.wait()
                    return 7
                }
                if result == 7 { completed.append(index) }
            }
        }
        try await eventually("number of joined callers", is: UInt64(count - 1)) { coalescer.statistics.joined }
        for (index, task) in tasks.enumerated() where !index.isMultiple(of: 3) { task.cancel() }
        for (index, task) in tasks.enumerated() where !index.isMultiple(of: 3) { await task.value }
        gate.open()
        for task in tasks { await task.value }
        #expect(completed.sorted() == Array(stride(from: 0, to: count, by: 3)))
    }

    @Test("L02 the last caller that leaves cancels the job, and a new caller starts a new one")
    func lastOneOut() async throws {
        let coalescer = Coalescer(), gate = Gate(), ended = Gate()
        let task = Task {
            try await coalescer.value(for: "a") { job throws(EideticError) in
                await gate.wait()
                if job.context.isCancelled { ended.open() }
                return 1
            }
        }
        try await eventually("number of jobs", is: 1) { coalescer.activeJobCount }
        task.cancel()
        await #expect(throws: EideticError.self) { try await task.value }
        #expect(coalescer.activeJobCount == 0)
        gate.open()
        await ended.wait()
        #expect(try await coalescer.value(for: "a") { _ throws(EideticError) in 2 } == 2)
        #expect(coalescer.statistics.started == 2)
    }

    @Test("L02 a job has the priority of its most urgent caller, and follows its changes")
    func priorityFollows() async throws {
        let coalescer = Coalescer(), gate = Gate()
        let context = Guarded<JobContext?>(nil)
        let low = JobContext(priority: .low), normal = JobContext(priority: .normal)
        let body: @Sendable (Coalescer.Job) async throws(EideticError) -> Int = { job throws(EideticError) in
            context.withLock { $0 = job.context }
            await gate.wait()
            return 1
        }
        let first = Task { try await coalescer.value(for: "a", context: low, operation: body) }
        try await eventually("the job runs") { context.withLock { $0 } != nil }
        #expect(context.withLock { $0?.priority } == .low)
        let second = Task { try await coalescer.value(for: "a", context: normal, operation: body) }
        try await eventually("number of joined callers", is: 1) { coalescer.statistics.joined }
        try await eventually("priority", is: .normal) { context.withLock { $0?.priority } }
        low.priority = .high
        #expect(context.withLock { $0?.priority } == .high)
        low.priority = .low
        #expect(context.withLock { $0?.priority } == .normal)
        gate.open()
        _ = try await (first.value, second.value)
    }

    @Test("L02 two urgent callers that join at once both raise the priority")
    func joinTogether() async throws {
        for round in 0..<300 {
            let coalescer = Coalescer(), gate = Gate()
            let context = Guarded<JobContext?>(nil)
            let body: @Sendable (Coalescer.Job) async throws(EideticError) -> Int = { job throws(EideticError) in
                context.withLock { $0 = job.context }
                await gate.wait()
                return 1
            }
            let first = Task {
                try await coalescer.value(for: "a", context: JobContext(priority: .low), operation: body)
            }
            try await eventually("the job runs") { context.withLock { $0 } != nil }
            let others = (0..<2).map { _ in
                Task { try await coalescer.value(for: "a", context: JobContext(priority: .high), operation: body) }
            }
            try await eventually("two callers have joined, and the priority has risen") {
                coalescer.statistics.joined == 2 && context.withLock { $0?.priority } != .low
            }
            #expect(context.withLock { $0?.priority } == .high, "round \(round)")
            gate.open()
            for task in [first] + others { _ = try await task.value }
        }
    }

    @Test("L08 every caller receives progress, and one that joins late receives the latest at once")
    func progress() async throws {
        let coalescer = Coalescer(), gate = Gate(), reported = Gate()
        let received = Guarded<[Int]>([])
        let first = Task {
            try await coalescer.value(for: "a") { job throws(EideticError) in
                job.report(5)
                reported.open()
                await gate.wait()
                return 1
            }
        }
        await reported.wait()
        let second = Task {
            try await coalescer.value(for: "a", onProgress: { value in received.withLock { $0.append(value) } }) {
                _ throws(EideticError) in 2
            }
        }
        try await eventually("a caller has joined, and progress is received") {
            coalescer.statistics.joined == 1 && received.withLock { !$0.isEmpty }
        }
        gate.open()
        #expect(try await first.value == 1)
        #expect(try await second.value == 1)
        #expect(received.withLock { $0 } == [5])
    }

    @Test("L02 a caller that is already cancelled starts no job")
    func cancelledBefore() async {
        let coalescer = Coalescer()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await coalescer.value(for: "a") { _ throws(EideticError) in 1 }
        }
        await #expect(throws: EideticError.self) { try await task.value }
        #expect(coalescer.statistics.started == 0)
    }

    @Test("L02 every caller receives exactly one result, with random joins and cancellations")
    func storm() async throws {
        let coalescer = Coalescer()
        let results = await withTaskGroup(of: Int.self) { group in
            for index in 0..<2_000 {
                group.addTask {
                    let task = Task {
                        try await coalescer.value(for: "\(index % 7)") { _ throws(EideticError) in
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
        #expect(results == 2_000)
        try await eventually("number of jobs", is: 0) { coalescer.activeJobCount }
    }
}
