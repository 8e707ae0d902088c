import EideticCore
import EideticTestSupport
import Testing

@Suite("Waits for what reports no event", .timeLimit(.minutes(1)))
struct EventuallyTests {
    @Test("a wait ends when another thread has made its condition true, and returns the value that did")
    func reached() async throws {
        let count = Guarded(0)
        Thread.start(name: "counter") { for _ in 0..<3 { count.withLock { $0 += 1 } } }
        try await eventually("the counter is above two") { count.withLock { $0 } > 2 }
        try await eventually("counter", is: 3) { count.withLock { $0 } }
        #expect(try await eventually("three", value: { count.withLock { $0 } }, until: { $0 > 2 }) == 3)
    }

    @Test("a condition is evaluated on the actor of its caller") @MainActor
    func isolation() async throws {
        var count = 0
        try await eventually("the fifth evaluation") {
            MainActor.preconditionIsolated()
            count += 1
            return count == 5
        }
        #expect(count == 5)
    }

    @Test("a wait that fails names its place, the event, and the values seen and expected") func message() async {
        let line = #line + 2
        do {
            try await eventually("number of calls", is: 3, limit: .zero) { 2 }
            Issue.record("no error")
        } catch {
            let place = "EideticTestSupportTests/EventuallyTests.swift:\(line)"
            let text = "not reached within 0.0 seconds: number of calls is 3; last seen: 2"
            #expect("\(error)" == "\(place): \(text)")
        }
    }

    @Test("the end of a test's time ends its wait") func cancelled() async {
        let task = Task { try await eventually("nothing", until: { false }) }
        task.cancel()
        let error = await #expect(throws: EventNotReached.self) { try await task.value }
        #expect(error?.limit == nil && error?.description.contains("until the task was cancelled: nothing") == true)
    }

    @Test("an error of a condition ends the wait") func failure() async {
        struct Failure: Error {}
        await #expect(throws: Failure.self) { try await eventually("a failure") { throw Failure() } }
    }
}
