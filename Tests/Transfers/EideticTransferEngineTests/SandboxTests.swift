import EideticCore
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc
import Testing

@Suite("the sandbox of the transfer process", .timeLimit(.minutes(1)))
struct SandboxTests {
    @Test("B14 the transfer process has no new privileges, and a filter of system calls")
    func theProcessIsRestricted() async throws {
        let directory = try TemporaryDirectory(named: "restricted")
        let process = try ServiceProcess(in: directory)
        try await process.connect().openSession(TransferSessionConfiguration(identifier: "s"))
        #expect(try process.memory("NoNewPrivs") == 1 && process.memory("Seccomp") == 2)
    }

    @Test("B14 the transfer process changes its own files only, starts no program, sends no signal and listens nowhere")
    func forbiddenActionsFail() async throws {
        let (directory, outside) = (try TemporaryDirectory(), try TemporaryDirectory())
        try outside.write([1], to: "secret")
        let origin = try ScriptedOrigin { _ in [] }
        let result = try await Subprocess.run(
            ServiceProcess.path(of: "eidetic-probe"),
            arguments: ["transfer-sandbox", directory.path, outside.path, "\(origin.port)"]
        )
        let output = result.outputText
        let allowed = [
            "write inside", "rename inside", "read system", "connect", "start thread", "datagram to the journal",
            "socket pair",
        ]
        for name in allowed {
            #expect(output.contains("\(name): allowed"), "\(name): \(output) \(result.errorText)")
        }
        var refused = [
            "start program", "signal parent", "listen", "packet socket", "stream to a service of the user",
            "packets to a service of the user",
        ]
        if !output.contains("landlock 0") { refused += ["write outside", "read outside", "remove outside"] }
        for name in refused { #expect(output.contains("\(name): refused"), "\(name): \(output)") }
    }

    @Test("B14 the targets of linked files of name resolution can be read, and no directory that others may change")
    func targetsOfLinksAreReadable() throws {
        let directory = try TemporaryDirectory()
        for (name, mode) in [("safe", 0o755), ("open", 0o775)] as [(String, mode_t)] {
            try directory.write([1], to: "\(name)/resolv.conf")
            chmod(directory.path(of: name), mode)
            symlink(directory.path(of: "\(name)/resolv.conf"), directory.path(of: "\(name)-link"))
        }
        let paths = ["safe-link", "open-link", "safe/resolv.conf", "missing"].map { directory.path(of: $0) }
        let resolved = try #require(realpath(directory.path, nil))
        defer { free(resolved) }
        let root = String(cString: resolved)
        // The directory of a user is one that others than root may change.
        let safe = getuid() == 0 ? "\(root)/safe" : "\(root)/safe/resolv.conf"
        #expect(Sandbox.linkedDirectories(of: Array(paths[..<2])) == [safe, "\(root)/open/resolv.conf"])
        #expect(Sandbox.linkedDirectories(of: [paths[3]]).isEmpty)
        #expect(root != directory.path || Sandbox.linkedDirectories(of: [paths[2]]).isEmpty)
    }

    @Test("B14 files are restricted with versions of Landlock that allow to move files between directories")
    func firstVersionOfLandlockIsLeftOut() {
        #expect((0...3).map { Sandbox.restrictsFiles(landlockVersion: $0) } == [false, false, true, true])
    }
}
