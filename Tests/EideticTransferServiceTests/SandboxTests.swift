import EideticCore
import EideticTestSupport
import EideticTransfer
import Testing

@Suite("the sandbox of the transfer process", .timeLimit(.minutes(1)))
struct SandboxTests {
    @Test("B14 the transfer process has no new privileges, and a filter of system calls")
    func theProcessIsRestricted() async throws {
        let directory = try TemporaryDirectory(named: "restricted")
        let process = try ServiceProcess(
            directory: directory.path(of: "transfers"),
            socketPath: directory.path(of: "socket")
        )
        try await process.connect().openSession(TransferSessionConfiguration(identifier: "s"))
        #expect(try process.memory("NoNewPrivs") == 1 && process.memory("Seccomp") == 2)
    }

    @Test("B14 the transfer process changes its own files only, starts no program, sends no signal and listens nowhere")
    func forbiddenActionsFail() async throws {
        let (directory, outside) = (try TemporaryDirectory(), try TemporaryDirectory())
        try outside.write([1], to: "secret")
        let origin = try ScriptedOrigin { _ in [] }
        let result = try await Subprocess.run(
            ServiceProcess.path(of: "EideticSandboxProbe"),
            arguments: [directory.path, outside.path, "\(origin.port)"]
        )
        let output = result.outputText
        for name in ["write inside", "rename inside", "read system", "connect", "start thread"] {
            #expect(output.contains("\(name): allowed"), "\(name): \(output) \(result.errorText)")
        }
        var refused = ["start program", "signal parent", "listen", "packet socket"]
        if !output.contains("landlock 0") { refused += ["write outside", "read outside", "remove outside"] }
        for name in refused { #expect(output.contains("\(name): refused"), "\(name): \(output)") }
    }

    @Test("B14 files are restricted with versions of Landlock that allow to move files between directories")
    func firstVersionOfLandlockIsLeftOut() {
        #expect((0...3).map { Sandbox.restrictsFiles(landlockVersion: $0) } == [false, false, true, true])
    }
}
