@testable import Eidetic
import EideticCore
import EideticTestSupport
import Testing

/// A load within a background task, without a server.
@Suite("Background load")
struct BackgroundLoadTests {
    @Test("L06 when the background time is used up, the download is handed over, and then the load is cancelled")
    func expiry() async {
        let environment = RecordingEnvironment()
        let events = Guarded<[String]>([])
        let load = BackgroundLoad { events.withLock { $0.append("hand over") } }
        let error = await #expect(throws: EideticError.self) {
            try await load.run(named: "load", in: environment) { () async throws(EideticError) in
                environment.expire()
                // The stream ends when the task is cancelled.
                let forever = AsyncStream.makeStream(of: Void.self)
                for await _ in forever.stream {}
                withExtendedLifetime(forever.continuation) {}
                events.withLock { $0.append("cancelled") }
                throw .cancelled
            }
        }
        #expect(error?.code == .cancelled)
        #expect(events.withLock { $0 } == ["hand over", "cancelled"])
        #expect(environment.log == ["begin 1", "end 1"])
    }

    @Test("L06 a load whose background task is refused does not start")
    func refusal() async {
        let environment = RecordingEnvironment()
        environment.exhaust()
        let error = await #expect(throws: EideticError.self) {
            try await BackgroundLoad {}.run(named: "load", in: environment) { () async throws(EideticError) in
                Issue.record("the load started")
                throw EideticError(.invalidArgument, message: "started")
            }
        }
        #expect(error?.code == .cancelled)
        #expect(environment.log == ["refuse"])
    }
}
