import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("Work pool", .timeLimit(.minutes(1)))
struct WorkPoolTests {
    /// Counts the operations that run at once; each waits until its group is complete.
    final class ConcurrencyCounter: Sendable {
        private let state = Monitor((entered: 0, active: 0, maximum: 0))
        var maximum: Int { state.withLock { $0.maximum } }

        func run(inGroupsOf size: Int) {
            let groupEnd = state.withLock { state in
                state.entered += 1
                state.active += 1
                state.maximum = max(state.maximum, state.active)
                return (state.entered + size - 1) / size * size
            }
            state.broadcast()
            state.wait { $0.entered >= groupEnd ? () : nil }
            state.withLock { $0.active -= 1 }
        }
    }

    @Test("L12 at most the maximum number of jobs run at once")
    func bounded() async throws {
        let pool = WorkPool(name: "test", maximumThreadCount: 3)
        let counter = ConcurrencyCounter()
        // Fewer than three threads would never complete a group; a fourth would join one of the hundred.
        let tasks = (0..<300).map { _ in
            Task { try await pool.run { _ throws(EideticError) in counter.run(inGroupsOf: 3) } }
        }
        for task in tasks { try await task.value }
        #expect(counter.maximum == 3)
    }

    @Test("L12 jobs one after another use the threads that are there")
    func reusesThreads() async throws {
        let pool = WorkPool(name: "test", maximumThreadCount: 64)
        var threads: Set<pthread_t> = []
        for _ in 0..<100 {
            threads.insert(try await pool.run { _ throws(EideticError) in pthread_self() })
            // A thread that has ended its job may not wait yet; the next job would start another.
            try await eventually("number of idle threads", is: 1) { pool.idleThreadCount }
        }
        #expect(threads.count == 1)
    }

    @Test("L26 the time in the queue counts as waiting, the operation does not")
    func waitingTime() async throws {
        let time = ManualTime(), context = JobContext(), started = Gate(), gate = Gate()
        let pool = WorkPool(name: "test", maximumThreadCount: 1, time: time)
        pool.enqueue {
            started.open()
            gate.block()
        }
        await started.wait()
        let task = Task {
            try await pool.run(in: context) { _ throws(EideticError) in time.advance(by: .seconds(5)) }
        }
        try await eventually("number of waiting jobs", is: 1) { pool.waitingJobCount }
        time.advance(by: .seconds(2))
        gate.open()
        try await task.value
        #expect(context.waitingTime == .seconds(2))
    }

    @Test("L02 the most urgent waiting job runs first, even if its priority rose while it waited")
    func urgency() async throws {
        let pool = WorkPool(name: "test", maximumThreadCount: 1)
        let order = Guarded<[Int]>([])
        let gate = await pool.occupyThread()
        let contexts = (0..<4).map { _ in JobContext(priority: .low) }
        let (done, finish) = AsyncStream<Void>.makeStream()
        for (index, context) in contexts.enumerated() {
            pool.enqueue(in: context) {
                let count = order.withLock {
                    $0.append(index); return $0.count
                }
                if count == 4 { finish.finish() }
            }
        }
        contexts[3].priority = .high
        contexts[2].priority = .normal
        gate.withLock { $0 = true }
        gate.broadcast()
        for await _ in done {}
        #expect(order.withLock { $0 } == [3, 2, 0, 1])
    }

    @Test("L02 what continues a job runs before equally urgent jobs, and after more urgent ones")
    func continuations() async throws {
        let pool = WorkPool(name: "test", maximumThreadCount: 1)
        let order = Guarded<[Int]>([]), gate = await pool.occupyThread()
        let (done, finish) = AsyncStream<Void>.makeStream()
        let priorities: [LoadPriority] = [.normal, .normal, .normal, .high]
        for (index, priority) in priorities.enumerated() {
            pool.enqueue(in: JobContext(priority: priority), isContinuation: [1, 2].contains(index)) {
                let count = order.withLock { order in
                    order.append(index)
                    return order.count
                }
                if count == priorities.count { finish.finish() }
            }
        }
        gate.withLock { $0 = true }
        gate.broadcast()
        for await _ in done {}
        #expect(order.withLock { $0 } == [3, 1, 2, 0])
    }

    @Test("L02 the oldest job runs after the starvation limit of more urgent jobs, and not before")
    func oldest() async throws {
        let pool = WorkPool(name: "test", maximumThreadCount: 1)
        let order = Guarded<[Int]>([])
        let (done, finish) = AsyncStream<Void>.makeStream()
        let gate = await pool.occupyThread()
        let count = WorkPool.starvationLimit + 20
        for index in 0..<count {
            pool.enqueue(in: JobContext(priority: index == 0 ? .low : .high)) {
                let ended = order.withLock {
                    $0.append(index)
                    return $0.count
                }
                if ended == count { finish.finish() }
            }
        }
        gate.withLock { $0 = true }
        gate.broadcast()
        for await _ in done {}
        #expect(order.withLock { $0.firstIndex(of: 0) } == WorkPool.starvationLimit)
    }

    @Test("L02 a job that is cancelled while it waits does not run")
    func cancelled() async throws {
        let pool = WorkPool(name: "test", maximumThreadCount: 1), started = Gate(), gate = Gate()
        pool.enqueue {
            started.open()
            gate.block()
        }
        await started.wait()
        let ran = Guarded(false)
        let task = Task { try await pool.run { _ throws(EideticError) in ran.withLock { $0 = true } } }
        try await eventually("number of waiting jobs", is: 1) { pool.waitingJobCount }
        task.cancel()
        gate.open()
        await #expect(throws: EideticError.self) { try await task.value }
        #expect(!ran.withLock { $0 })
    }

    @Test("L02 a job that is cancelled while it waits ends before any other starts")
    func cancelledFirst() async throws {
        let pool = WorkPool(name: "test", maximumThreadCount: 1)
        let gate = await pool.occupyThread(), second = Monitor(false)
        pool.enqueue(in: JobContext(priority: .high)) { second.wait { $0 ? () : nil } }
        let task = Task { try await pool.run(in: JobContext(priority: .low)) { _ throws(EideticError) in } }
        try await eventually("number of waiting jobs", is: 2) { pool.waitingJobCount }
        task.cancel()
        gate.withLock { $0 = true }
        gate.broadcast()
        // Queued after the second job, it would never end.
        await #expect(throws: EideticError.self) { try await task.value }
        second.withLock { $0 = true }
        second.broadcast()
    }
}

extension WorkPool {
    /// Lets a job take a thread until the result becomes `true`; returns when it has one.
    fileprivate func occupyThread() async -> Monitor<Bool> {
        let (blocked, unblock) = AsyncStream<Void>.makeStream()
        let gate = Monitor(false)
        enqueue {
            unblock.finish()
            gate.wait { $0 ? () : nil }
        }
        for await _ in blocked {}
        return gate
    }
}
