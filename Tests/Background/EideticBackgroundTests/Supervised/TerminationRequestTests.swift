import EideticCore
import EideticSupervision
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Requests to terminate, and supervisors that end before they carry them out", .timeLimit(.minutes(2)))
struct TerminationRequestTests {
    private let tests: SupervisedTests

    init() throws { tests = try SupervisedTests() }

    private func successor(_ generation: UInt32 = 2) async throws -> ScriptedSupervisor {
        try await ScriptedSupervisor.accept(at: tests.listener, directory: tests.directory, generation: generation)
    }

    private func expectRequest(at supervisor: ScriptedSupervisor) async throws {
        try await supervisor.expect("the request to terminate") { $0 == .leaving ? () : nil }
    }

    /// Returns the number of requests to terminate that arrive before the answer to a question.
    private func countRequests(at supervisor: ScriptedSupervisor) async throws -> Int {
        try supervisor.send(.taskNames(request: 99))
        var count = 0
        while let message = try await supervisor.next() {
            if message == .leaving { count += 1 }
            if case .taskNames(_, request: 99) = message { return count }
        }
        throw ScriptedSupervisor.MissingMessage(name: "the answer", others: [])
    }

    @Test(
        "B17 requests to terminate are reported to each next supervisor until one carries them out",
        arguments: [1, 2]
    )
    func repeated(count: Int) async throws {
        let (probe, first) = try await tests.start()
        try await first.greet(socketPath: tests.path)
        try await first.activate()
        for _ in 0..<count {
            probe.process.kill(SIGTERM)
            try await expectRequest(at: first)
        }
        first.disconnect()
        for generation in [2, 3] as [UInt32] {
            let next = try await successor(generation)
            try await next.greet(socketPath: tests.path)
            #expect(try await countRequests(at: next) == count)
            guard generation == 3 else {
                next.disconnect()
                continue
            }
            try await next.enterBackground()
            try await next.terminate()
        }
        #expect(await probe.finish().status == .exited(0))
    }

    @Test("B17 a request to terminate before the greeting is reported once, after the welcome")
    func ungreeted() async throws {
        let (probe, first) = try await tests.start(["--hang", "didEnterBackground=400"])
        try await first.greet(socketPath: tests.path)
        try await first.activate()
        try await first.perform(.willResignActive)
        try first.deliver(.didEnterBackground)
        await probe.expectOutput("didEnterBackground")
        first.disconnect()
        // The application connects, and greets after the callback.
        let next = try await successor()
        probe.process.kill(SIGTERM)
        try await next.greet()
        try await expectRequest(at: next)
        #expect(try await countRequests(at: next) == 0)
        probe.process.kill(SIGKILL)
    }

    @Test("B17 a request to terminate before the welcome is reported once, after it")
    func unwelcome() async throws {
        let (probe, supervisor) = try await tests.start()
        try await supervisor.expect("hello") { if case .hello = $0 { () } else { nil } }
        probe.process.kill(SIGTERM)
        let welcome = Welcome(generation: supervisor.generation, token: supervisor.token)
        try supervisor.send(.welcome(welcome), descriptors: [supervisor.page.descriptor])
        try await expectRequest(at: supervisor)
        #expect(try await countRequests(at: supervisor) == 0)
        probe.process.kill(SIGKILL)
    }

    @Test("B17 a request that no supervisor carried out is the first one of the application alone")
    func alone() async throws {
        let (probe, supervisor) = try await tests.start(["--task", "up=-1"])
        try await supervisor.greet()
        try await supervisor.activate()
        probe.process.kill(SIGTERM)
        try await expectRequest(at: supervisor)
        supervisor.disconnect()
        await probe.expectOutput("didEnterBackground")
        // The second request expires the tasks; a third one would kill the process.
        probe.process.kill(SIGTERM)
        let end = await probe.finish()
        #expect(end.status == .exited(0) && end.lines.contains("expired up"), "\(end)")
    }

    @Test("B17 a request to terminate before a refusal is carried out by the application alone, after its launch")
    func refused() async throws {
        let (probe, supervisor) = try await tests.start()
        try await supervisor.expect("hello") { if case .hello = $0 { () } else { nil } }
        probe.process.kill(SIGTERM)
        try supervisor.send(.refused(.alreadyRunning))
        let end = await probe.finish()
        #expect(end.status == .exited(0) && end.lines.contains("willTerminate background"), "\(end)")
    }

    @Test("B08 an application whose supervisor ends within willTerminate exits after it")
    func lostWithinTermination() async throws {
        let (probe, supervisor) = try await tests.start(["--hang", "willTerminate=400"])
        try await supervisor.greet(socketPath: tests.path)
        try await supervisor.activate()
        try await supervisor.enterBackground()
        try supervisor.page.setPhase(.terminating, deadline: nil)
        try supervisor.deliver(.willTerminate)
        await probe.expectOutput("willTerminate")
        supervisor.disconnect()
        #expect(await probe.finish().status == .exited(0))
    }
}
