import EideticCore
import EideticSupervision
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Successive supervisors", .timeLimit(.minutes(2)))
struct SuccessorTests {
    private let tests: SupervisedTests
    private var directory: TemporaryDirectory { tests.directory }

    init() throws { tests = try SupervisedTests() }

    private func successor(_ generation: UInt32 = 2) async throws -> ScriptedSupervisor {
        try await ScriptedSupervisor.accept(at: tests.listener, directory: directory, generation: generation)
    }

    /// Starts the probe under a supervisor, brings it to the background, and ends the supervisor.
    private func orphan(_ arguments: [String] = []) async throws -> ProbeProcess {
        let (probe, supervisor) = try await tests.start(arguments)
        try await supervisor.greet(socketPath: tests.path)
        try await supervisor.activate()
        try await supervisor.enterBackground()
        if arguments.contains("--hold-wakes") {
            try await supervisor.perform(.wake(WakeReason(.fetch, id: 7)))
            await probe.expectOutput("wake fetch 7")
        }
        supervisor.disconnect()
        return probe
    }

    @Test("B08 the next supervisor receives the state, the open wakes, the assertions, the token and the count")
    func adopted() async throws {
        let probe = try await orphan(["--hold-wakes", "--audio", "--task", "up=-1"])
        let supervisor = try await successor()
        let hello = try await supervisor.greet()
        let running = try #require(hello.running)
        #expect(running.state == .background && running.generation == 1)
        #expect(running.token == [UInt8](repeating: 1, count: 16))
        #expect(running.wakes == [WakeReason(.fetch, id: 7)] && running.assertions == [.audio])
        try supervisor.send(.taskNames(request: 1))
        try await supervisor.expect("the names") { $0 == .taskNames(["up"], request: 1) ? () : nil }
        #expect(supervisor.page.openTasks ?? 0 >= 1)
        try supervisor.page.setPhase(.foreground, deadline: nil)
        try await supervisor.perform(.willEnterForeground)
        try await supervisor.perform(.didBecomeActive)
        await probe.expectOutput("didBecomeActive active", times: 2)
        probe.process.kill(SIGKILL)
    }

    @Test("B08 a callback that runs when the supervisor ends is completed before the next one is greeted")
    func lostWithinCallback() async throws {
        let (probe, supervisor) = try await tests.start(["--hang", "didEnterBackground=400"])
        try await supervisor.greet(socketPath: tests.path)
        try await supervisor.activate()
        try await supervisor.perform(.willResignActive)
        try supervisor.deliver(.didEnterBackground)
        await probe.expectOutput("didEnterBackground")
        supervisor.disconnect()
        let next = try await successor()
        #expect(try await next.greet().running?.state == .background)
        await probe.expectOutput("remaining")
        probe.process.kill(SIGKILL)
    }

    @Test("B08 a request to end, and a hidden window, while no supervisor listens are reported to the next one")
    func requestsBetween() async throws {
        let (probe, supervisor) = try await tests.start(["--background"])
        try await supervisor.greet(socketPath: tests.path)
        try await supervisor.perform(.launch(.user))
        // The probe hides its window when it is active.
        try supervisor.deliver(.didBecomeActive)
        supervisor.disconnect()
        await probe.expectOutput("state active")
        probe.process.kill(SIGTERM)
        let next = try await successor()
        let hello = try await next.greet()
        let hidden = PresentationMessage(isVisible: false, isFocused: true)
        var expected: Set<ApplicationMessage> = [.leaving]
        // The greeting has it already if the window was hidden before.
        if hello.presentation != hidden { expected.insert(.presentation(hidden)) }
        while !expected.isEmpty, let message = try await next.next() { expected.remove(message) }
        #expect(expected.isEmpty)
        probe.process.kill(SIGKILL)
    }

    @Test("B17 a request to end is carried out if no supervisor follows")
    func endsAlone() async throws {
        let probe = try await orphan(["--reconnect-limit", "300"])
        probe.process.kill(SIGTERM)
        let end = await probe.finish()
        #expect(end.status == .exited(0) && end.lines.contains("willTerminate background"), "\(end)")
    }

    @Test(
        "B08 a callback that outlasts the wait for a next supervisor is completed, and the application goes on alone",
        arguments: [true, false]
    )
    func outlastingCallback(isPathKnown: Bool) async throws {
        let (probe, supervisor) = try await tests.start([
            "--hang", "didEnterBackground=300", "--reconnect-limit", "50",
        ])
        try await supervisor.greet(socketPath: isPathKnown ? tests.path : nil)
        try await supervisor.activate()
        try await supervisor.perform(.willResignActive)
        try supervisor.deliver(.didEnterBackground)
        await probe.expectOutput("didEnterBackground")
        supervisor.disconnect()
        await probe.expectOutput("remaining")
        probe.process.kill(SIGTERM)
        let end = await probe.finish()
        #expect(end.status == .exited(0) && end.lines.contains("willTerminate background"), "\(end)")
    }

    @Test("B08 an application whose supervisor ends during its termination exits")
    func lostWhileTerminating() async throws {
        let (probe, supervisor) = try await tests.start()
        try await supervisor.greet(socketPath: tests.path)
        try await supervisor.activate()
        try await supervisor.enterBackground()
        try supervisor.page.setPhase(.terminating, deadline: nil)
        try await supervisor.perform(.willTerminate)
        supervisor.disconnect()
        #expect(await probe.finish().status == .exited(0))
    }

    @Test("B08 without a next supervisor the application continues alone, in the state in which it was left")
    func alone() async throws {
        let probe = try await orphan(["--reconnect-limit", "200", "--task", "up=300"])
        // Nobody accepts; the limit passes.
        await probe.expectOutput("done up")
        probe.process.kill(SIGTSTP)
        await probe.waitUntilStopped()
        probe.process.kill(SIGCONT)
        await probe.expectOutput("state suspended\nstate background")
        probe.process.kill(SIGTERM)
        let end = await probe.finish()
        #expect(end.status == .exited(0), "\(end.errors)")
        #expect(end.lines.count { $0.hasPrefix("didEnterBackground") } == 1)
        #expect(end.lines.contains("willTerminate background"))
        // Its own phase decides, and not the last one of the supervisor.
        #expect(end.lines.contains("late begin refused"))
    }

    @Test("B02 an application that the supervisor refuses, or does not find one, runs alone", arguments: [true, false])
    func refused(isListening: Bool) async throws {
        let path = isListening ? tests.path : directory.path(of: "nobody")
        let probe = try ProbeProcess(["--supervisor-socket", path])
        if isListening {
            let supervisor = try await successor(1)
            _ = try await supervisor.next()
            try supervisor.send(.refused(.alreadyRunning))
        }
        await probe.expectOutput("didBecomeActive active")
        #expect(!probe.process.outputSoFar.contains("supervised"))
        probe.process.kill(SIGTERM)
        #expect(await probe.finish().status == .exited(0))
    }

    @Test("B02 an inherited socket, whose number is in the environment, needs no configuration")
    func inherited() async throws {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        let supervisor = try ScriptedSupervisor(PacketSocket(adopting: ends[0]), directory: directory)
        let probe = try ProbeProcess([], environment: [SupervisionProtocol.descriptorVariable: "\(ends[1])"])
        close(ends[1])
        try await supervisor.greet()
        try await supervisor.activate()
        await probe.expectOutput("supervised")
        probe.process.kill(SIGKILL)
    }

    @Test("B01 a variable that names no socket of a supervisor is ignored", arguments: ["9999", "1", "-1", "x", ""])
    func wrongVariable(value: String) async throws {
        let probe = try ProbeProcess([], environment: [SupervisionProtocol.descriptorVariable: value])
        await probe.expectOutput("didBecomeActive active")
        probe.process.kill(SIGKILL)
    }
}
