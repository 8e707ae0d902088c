import EideticCore
import Testing

/// The races of a task that waits for a value: with the value, with a cancellation, and with both.
@Suite("Waiters", .timeLimit(.minutes(1)))
struct WaiterTests {
    @Test("L21 a value that is set before the task waits is returned at once")
    func early() async {
        let waiter = Waiter<Int>()
        #expect(waiter.resume(returning: 7))
        #expect(await waiter.value(ifCancelled: 0) == 7)
    }

    @Test("L21 the first value counts; later ones have no effect, and their callers know")
    func first() async {
        let waiter = Waiter<Int>()
        #expect(waiter.resume(returning: 1))
        #expect(!waiter.resume(returning: 2))
        #expect(await waiter.value(ifCancelled: 0) == 1)
        #expect(!waiter.resume(returning: 3))
    }

    @Test("L21 a task that is cancelled before it waits gets the value of a cancellation")
    func cancelledBefore() async {
        let waiter = Waiter<Int>(), start = Waiter<Void>()
        let task = Task {
            await start.wait {}
            return await waiter.value(ifCancelled: -1)
        }
        task.cancel()
        start.resume(returning: ())
        #expect(await task.value == -1)
        #expect(!waiter.resume(returning: 7))
    }

    @Test("L21 a task that is cancelled after its value was set gets the value")
    func cancelledAfter() async {
        let waiter = Waiter<Int>()
        let task = Task {
            await Waiter<Void>().value(ifCancelled: ())
            return await waiter.value(ifCancelled: -1)
        }
        waiter.resume(returning: 7)
        task.cancel()
        #expect(await task.value == 7)
    }

    @Test("L21 values, cancellations and suspensions in any order: one value, and one caller that has set it")
    func storm() async {
        for _ in 0..<2_000 {
            let waiter = Waiter<Int>()
            let waiting = Task.detached { await waiter.value(ifCancelled: 0) }
            let setters = (1...3).map { number in Task.detached { waiter.resume(returning: number) ? number : nil } }
            let canceller = Task.detached { waiting.cancel() }
            var winners: [Int] = []
            for setter in setters { if let winner = await setter.value { winners.append(winner) } }
            await canceller.value
            let value = await waiting.value
            #expect(value == 0 ? winners.isEmpty : winners == [value])
        }
    }
}

@Suite("Promises", .timeLimit(.minutes(1)))
struct PromiseTests {
    @Test("L21 all callers get the value, those that wait and later ones")
    func all() async throws {
        let promise = Promise<Int>()
        let early = Task { try await promise.value() }
        #expect(promise.fulfil(.success(7)))
        #expect(!promise.fulfil(.success(8)))
        #expect(try await early.value == 7)
        #expect(try await promise.value() == 7)
        #expect(try promise.result?.get() == 7)
    }

    @Test("L21 a cancelled caller leaves at once, and the others keep waiting")
    func cancelled() async throws {
        let promise = Promise<Int>()
        let leaving = Task { try await promise.value() }, staying = Task { try await promise.value() }
        leaving.cancel()
        let error = await #expect(throws: EideticError.self) { try await leaving.value }
        #expect(error?.code == .cancelled)
        promise.fulfil(.success(7))
        #expect(try await staying.value == 7)
    }
}

@Suite("Limiters", .timeLimit(.minutes(1)))
struct AsyncLimiterTests {
    @Test("L19 L21 a cancelled ticket frees its place, whether it was admitted or not")
    func cancelledTickets() async throws {
        let limiter = AsyncLimiter(maximumConcurrent: 1)
        try await limiter.acquire()
        let cancelled = limiter.reserveTicket(), next = limiter.reserveTicket()
        let leaving = Task { try await limiter.acquire(ticket: cancelled) }
        leaving.cancel()
        await #expect(throws: EideticError.self) { try await leaving.value }
        limiter.release()
        try await limiter.acquire(ticket: next)
        limiter.release()
        try await limiter.acquire()
    }

    @Test("L19 cancelled tickets leave the queue, although nothing is admitted: at most half of it is cancelled")
    func queueOfCancelledTickets() async throws {
        let limiter = AsyncLimiter(maximumConcurrent: 1)
        try await limiter.acquire()
        let waiting = limiter.reserveTicket()
        for _ in 0..<100 {
            let leaving = Task { try await limiter.acquire() }
            leaving.cancel()
            await #expect(throws: EideticError.self) { try await leaving.value }
            #expect(limiter.queueLength <= 2)
        }
        limiter.release()
        try await limiter.acquire(ticket: waiting)
        #expect(limiter.queueLength == 0)
    }

    @Test("L19 no more tasks proceed than the limit, in any order of cancellations; in the end all places are free")
    func storm() async throws {
        let limiter = AsyncLimiter(maximumConcurrent: 3), active = ActiveCount()
        let tasks = (0..<1_000).map { _ in
            Task.detached {
                try await limiter.acquire()
                active.add(1)
                await Task.yield()
                active.add(-1)
                limiter.release()
            }
        }
        for task in tasks.enumerated() where task.offset.isMultiple(of: 3) { task.element.cancel() }
        for task in tasks { _ = try? await task.value }
        #expect(active.most <= 3)
        for _ in 0..<3 { try await limiter.acquire() }
    }
}

/// The number of tasks that proceed, and the largest so far.
private final class ActiveCount: Sendable {
    private let state = Guarded((now: 0, most: 0))

    var most: Int { state.withLock { $0.most } }

    func add(_ number: Int) {
        state.withLock { state in
            state.now += number
            state.most = max(state.most, state.now)
        }
    }
}
