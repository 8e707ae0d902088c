import EideticCore
import EideticSupervision
import EideticTestSupport
import Glibc
import Testing

@Suite("An application beside a supervisor of another version", .timeLimit(.minutes(2)))
struct VersionTests {
    @Test("B02 it says which of the two is too old, and runs alone", arguments: [-1, 1])
    func otherSupervisor(difference: Int) async throws {
        let tests = try SupervisedTests()
        let words = ["--supervisor-socket", tests.path]
        let probe = try ProbeProcess(words, environment: ["EIDETIC_LOG": "error"])
        let supervisor = try await ScriptedSupervisor.accept(at: tests.listener, directory: tests.directory)
        let hello = try await supervisor.expect("hello") { if case .hello(let hello) = $0 { hello } else { nil } }
        let version = UInt8(Int(hello.version) + difference)
        // Behind the version is what only that version knows.
        try supervisor.sendBytes([SupervisionProtocol.greetingKind, version, 0, 9, 9, 9])
        await probe.expectOutput("didBecomeActive active")
        #expect(!probe.process.outputSoFar.contains("supervised"))
        probe.process.kill(SIGTERM)
        let end = await probe.finish()
        let old = difference > 0 ? "the application" : "the supervisor (package eidetic-background)"
        #expect(end.status == .exited(0))
        #expect(end.errors.contains("\(old) is too old and must be updated"), "\(end.errors)")
    }
}
