import EideticCore
import EideticSupervision
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Suspensions that no supervisor reports", .timeLimit(.minutes(2)))
struct UnreportedSuspensionTests {
    private let tests: SupervisedTests
    private var settings: String { tests.directory.path(of: "settings/app.conf") }
    private var notice: String { "notice settingsChanged \(settings)" }

    init() throws { tests = try SupervisedTests() }

    /// Stops a probe in the background, as a supervisor's suspension does, and changes its settings meanwhile.
    private func suspend() async throws -> (ProbeProcess, ScriptedSupervisor) {
        try tests.directory.write([], to: "settings/app.conf")
        let (probe, supervisor) = try await tests.start(["--settings", settings, "--observe", "settingsChanged"])
        try await supervisor.greet(socketPath: tests.path)
        try await supervisor.activate()
        await probe.expectOutput("observes settingsChanged")
        try await supervisor.enterBackground()
        probe.process.kill(SIGSTOP)
        await probe.waitUntilStopped()
        try tests.directory.write([1], to: "settings/app.conf")
        try supervisor.page.write(1, to: .suspensionCount)
        return (probe, supervisor)
    }

    private func lines(of probe: ProbeProcess) -> [String] {
        probe.process.outputSoFar.split(separator: "\n").map(String.init)
    }

    @Test(
        "B08 a supervisor that ends and continues the application leaves no notice held, if the next one reports or not",
        arguments: [true, false]
    )
    func released(isReportedLater: Bool) async throws {
        let (probe, supervisor) = try await suspend()
        try supervisor.page.setPhase(.foreground, deadline: nil)
        supervisor.disconnect()
        probe.process.kill(SIGCONT)
        await probe.expectOutput("\(notice) count 1")
        let next = try await ScriptedSupervisor.accept(at: tests.listener, directory: tests.directory, generation: 2)
        #expect(try await next.greet().running?.state == .background)
        if isReportedLater { try next.send(.suspended(from: .seconds(1), to: .seconds(2))) }
        try await next.perform(.willEnterForeground)
        try await next.perform(.didBecomeActive)
        try tests.directory.write([2], to: "settings/app.conf")
        await probe.expectOutput(notice, times: 2)
        await probe.expectOutput("state active", times: 2)
        #expect(lines(of: probe).count { $0 == "state suspended" } == 1)
        probe.process.kill(SIGKILL)
    }

    @Test("B08 a return to the foreground without a report of the suspension delivers the held notices first")
    func returned() async throws {
        let (probe, supervisor) = try await suspend()
        try supervisor.page.setPhase(.foreground, deadline: nil)
        let number = try supervisor.deliver(.willEnterForeground)
        probe.process.kill(SIGCONT)
        try await supervisor.expect("the acknowledgement") { $0 == .acknowledged(sequence: number) ? () : nil }
        await probe.expectOutput("willEnterForeground")
        let returned = try #require(lines(of: probe).firstIndex { $0.hasPrefix("willEnterForeground") })
        let first = try #require(lines(of: probe).firstIndex { $0.hasPrefix(notice) }, "no notice")
        #expect(first < returned)
        try await supervisor.perform(.didBecomeActive)
        try tests.directory.write([2], to: "settings/app.conf")
        await probe.expectOutput(notice, times: 2)
        probe.process.kill(SIGKILL)
    }
}
