import EideticCore
import EideticSupervision
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Requests for work that the user has started", .timeLimit(.minutes(2)))
struct ContinuedRequestTests {
    private let tests: SupervisedTests

    init() throws { tests = try SupervisedTests() }

    /// Starts the probe, lets it begin work, and returns it with its supervisor and the number of the request.
    private func request(
        _ arguments: [String]
    ) async throws -> (probe: ProbeProcess, supervisor: ScriptedSupervisor, number: UInt64) {
        let (probe, supervisor) = try await tests.start(["--continued", "didBecomeActive"] + arguments)
        try await supervisor.greet(socketPath: tests.path)
        try await supervisor.activate()
        return (probe, supervisor, try await requestNumber(at: supervisor, isResumed: false))
    }

    private func requestNumber(at supervisor: ScriptedSupervisor, isResumed: Bool) async throws -> UInt64 {
        try await supervisor.expect("the request") { message in
            guard case .wakes(.beginContinued(let work, let number)) = message else { return nil }
            return work.identifier == "export" && work.isResumed == isResumed ? number : nil
        }
    }

    @Test("B08 B10 a request that a lost supervisor has not answered is answered by the next one")
    func nextSupervisor() async throws {
        let (probe, supervisor, number) = try await request([])
        supervisor.disconnect()
        let next = try await ScriptedSupervisor.accept(
            at: tests.listener,
            directory: tests.directory,
            generation: 2
        )
        try await next.greet()
        #expect(try await requestNumber(at: next, isResumed: true) == number)
        try next.send(.wakes(.task(nil, number: number)))
        await probe.expectOutput("work begins")
        probe.process.kill(SIGKILL)
    }

    @Test("B08 B10 when the supervisor is gone for good before it has answered, the work begins without it")
    func lostSupervisor() async throws {
        let (probe, supervisor, _) = try await request(["--reconnect-limit", "300"])
        // Nobody listens any more.
        unlink(tests.path)
        supervisor.disconnect()
        await probe.expectOutput("work begins")
        probe.process.kill(SIGKILL)
    }

    @Test("B10 without a supervisor, work begins in the foreground and is cancelled at the end of background time")
    func alone() async throws {
        let arguments = ["--continued", "didBecomeActive", "--leave-with-work", "--budget", "300"]
        let probe = try ProbeProcess(arguments)
        await probe.expectOutput("work begins")
        await probe.expectOutput("work cancelled")
        probe.process.kill(SIGKILL)
    }

    @Test("B10 without a supervisor, work is refused in the background")
    func aloneInBackground() async throws {
        let probe = try ProbeProcess(["--continued", "didEnterBackground", "--background", "--task", "up=-1"])
        await probe.expectOutput("the application is not in the foreground")
        #expect(probe.process.outputSoFar.contains("work refused: "))
        probe.process.kill(SIGKILL)
    }
}
