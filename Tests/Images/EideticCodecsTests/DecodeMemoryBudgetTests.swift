import EideticCodecs
import EideticCore
import EideticTestSupport
import Testing

@Suite("Memory budget for decoding", .timeLimit(.minutes(5)))
struct DecodeMemoryBudgetTests {
    @Test("F07 a decode waits for its reservation, in first-in, first-out order") func order() async throws {
        let memory = DecodeMemoryBudget(capacity: 100)
        let pool = WorkPool(name: "decode", maximumThreadCount: 3)
        let gate = Monitor(false)
        let finished = Guarded<[String]>([])
        let decode: @Sendable (String, Int) async throws -> Void = { name, bytes in
            try await pool.run { context throws(EideticError) in
                try memory.withReservation(of: bytes, context: context) {
                    if name == "first" { gate.wait { $0 ? () : nil } }
                    finished.withLock { $0.append(name) }
                }
            }
        }
        let open: @Sendable () -> Void = {
            gate.withLock { $0 = true }
            gate.broadcast()
        }
        async let first: Void = decode("first", 80)
        // Also after a failure: a thread waits for the gate.
        defer { open() }
        try await eventually("available bytes", is: 20) { memory.availableBytes }
        async let large: Void = decode("large", 90)
        try await eventually("number of waiting decodes", is: 1) { memory.waitingCount }
        async let small: Void = decode("small", 10)
        try await eventually("number of waiting decodes", is: 2) { memory.waitingCount }
        #expect(finished.withLock { $0 }.isEmpty)
        open()
        _ = try await (first, large, small)
        #expect(finished.withLock { $0.first } == "first")
        #expect(memory.availableBytes == 100 && memory.waitingCount == 0)
    }

    @Test("F07 a cancelled decode leaves the queue") func cancelled() async throws {
        let memory = DecodeMemoryBudget(capacity: 100)
        let context = JobContext()
        let refusalCode = try memory.withReservation(of: 80, context: JobContext()) { () throws(EideticError) in
            context.cancel()
            return errorCode { () throws(EideticError) in try memory.withReservation(of: 90, context: context) {} }
        }
        #expect(refusalCode == .cancelled)
        #expect(memory.availableBytes == 100 && memory.waitingCount == 0)
    }

    @Test("F07 a decode that needs more than the budget runs alone") func alone() throws {
        let memory = DecodeMemoryBudget(capacity: 100)
        let result = try memory.withReservation(of: 1_000_000, context: JobContext()) { 7 }
        #expect(result == 7)
    }
}
