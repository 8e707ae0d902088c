import EideticCore
import EideticTestSupport
import Testing

@Suite("Detached calls", .timeLimit(.minutes(1)))
struct DetachedCallsTests {
    /// A library that does not return before it is released.
    private final class StuckLibrary: Sendable {
        private let isReleased = Monitor(false)

        func call() { isReleased.wait { $0 ? () : nil } }

        func release() {
            isReleased.withLock { $0 = true }
            isReleased.broadcast()
        }
    }

    private let library = StuckLibrary()

    private func makeCalls(concurrent: Int = 1, overdue: Int = 2) -> DetachedCalls {
        DetachedCalls(
            name: "test",
            maximumConcurrentCalls: concurrent,
            maximumOverdueCalls: overdue,
            memory: ByteCount(100)
        )
    }

    /// Starts a call that does not end before the library is released; returns its error.
    private func stuckCall(_ calls: DetachedCalls, context: JobContext = JobContext()) -> EideticError.Code? {
        do throws(EideticError) {
            let reservation = DetachedCalls.Reservation(duration: .zero)
            try calls.run(reserving: reservation, context: context) { [library] () throws(EideticError) in
                library.call()
            }
            return nil
        } catch {
            return error.code
        }
    }

    private func value(_ calls: DetachedCalls, memory: Int = 0, isImmediate: Bool = false) throws(EideticError) -> Int {
        let reservation = DetachedCalls.Reservation(memory: memory, duration: .seconds(30), isImmediate: isImmediate)
        return try calls.run(reserving: reservation, context: JobContext()) { () throws(EideticError) in 7 }
    }

    @Test("C18 a call that does not end fails at its time limit, and others start") func timeLimit() throws {
        let calls = makeCalls()
        #expect(stuckCall(calls) == .limitExceeded)
        #expect(calls.runningCallCount == 1)
        #expect(try value(calls) == 7)
        library.release()
    }

    @Test("C18 as many calls beyond their time limits as allowed make all others fail until one ends")
    func overdue() async throws {
        let calls = makeCalls(overdue: 2)
        #expect(stuckCall(calls) == .limitExceeded)
        #expect(try value(calls) == 7)
        #expect(stuckCall(calls) == .limitExceeded)
        for isImmediate in [false, true] {
            let error = #expect(throws: EideticError.self) { _ = try value(calls, isImmediate: isImmediate) }
            #expect(error?.code == .limitExceeded && error?.message.contains("too many") == true)
        }
        library.release()
        try await eventually("number of running calls", is: 0) { calls.runningCallCount }
        #expect(try value(calls) == 7)
    }

    @Test("C18 a cancelled caller does not wait for its call") func cancellation() async throws {
        let calls = makeCalls(), context = JobContext(), pool = WorkPool(name: "test", maximumThreadCount: 1)
        let (started, start) = AsyncStream<Void>.makeStream()
        let caller = Task { [library] in
            await pool.result { () throws(EideticError) in
                let reservation = DetachedCalls.Reservation(duration: .seconds(3_600))
                try calls.run(reserving: reservation, context: context) { () throws(EideticError) in
                    start.finish()
                    library.call()
                }
            }
        }
        for await _ in started {}
        context.cancel()
        #expect(await caller.value == .cancelled)
        #expect(calls.runningCallCount == 1)
        // The call counts until it ends, so a second one waits, also for the cancellation of its own caller.
        let other = JobContext()
        other.cancel()
        #expect(stuckCall(calls, context: other) == .cancelled)
        #expect(calls.runningCallCount == 1)
        library.release()
    }

    @Test("C18 calls share the memory, and one that exceeds it runs alone") func memory() throws {
        let calls = makeCalls(concurrent: 4)
        #expect(try value(calls, memory: 100) == 7)
        #expect(try value(calls, memory: .max) == 7)
        #expect(try value(calls, memory: 101, isImmediate: true) == 7)
    }

    @Test("C18 the error of a call reaches its caller") func failure() {
        let calls = makeCalls()
        let error = #expect(throws: EideticError.self) {
            let reservation = DetachedCalls.Reservation(duration: .seconds(30))
            try calls.run(reserving: reservation, context: JobContext()) { () throws(EideticError) in
                throw EideticError(.corrupt, message: "corrupt")
            }
        }
        #expect(error?.code == .corrupt)
    }
}

extension WorkPool {
    /// Runs `body` on a thread of the pool; returns its error.
    fileprivate func result(_ body: @escaping @Sendable () throws(EideticError) -> Void) async -> EideticError.Code? {
        do throws(EideticError) {
            try await run { _ throws(EideticError) in try body() }
            return nil
        } catch {
            return error.code
        }
    }
}
