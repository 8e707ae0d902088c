import EideticCore
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc
import Testing

@Suite("replacement of a transfer process", .timeLimit(.minutes(1)))
struct ReplacementTests {
    private func service(_ name: String, in directory: TemporaryDirectory, replaces: Bool = false) throws
        -> ServiceProcess
    {
        try ServiceProcess(
            directory: directory.path(of: "transfers"),
            socketPath: directory.path(of: name),
            arguments: replaces ? ["--replace"] : []
        )
    }

    private func useSession(of service: ServiceProcess) async throws {
        try await service.connect().openSession(TransferSessionConfiguration(identifier: "s"))
    }

    @Test("B14 a new transfer process replaces one that runs, and one that is stopped", arguments: [false, true])
    func replaces(isStopped: Bool) async throws {
        let directory = try TemporaryDirectory(named: "replaced")
        let owner = try service("one", in: directory)
        try await useSession(of: owner)
        if isStopped { kill(owner.identifier, SIGSTOP) }
        let next = try service("two", in: directory, replaces: true)
        try await useSession(of: next)
        #expect(!owner.isRunning && next.isRunning)
    }

    @Test("B14 a process that did not offer itself is not ended, nor one whose number is in the file of the lock")
    func strangers() async throws {
        let directory = try TemporaryDirectory(named: "stranger")
        let path = directory.path(of: "transfers")
        let lock = try EngineLock.take(of: path)
        // As an earlier version has left it: the number of an owner that has ended, which a stranger has now.
        let stranger = try Subprocess("/bin/sleep", arguments: ["60"])
        _ = try directory.write(Array("\(stranger.identifier)".utf8), to: "transfers/lock")
        #expect(throws: EideticError.self) {
            try EngineLock.endOwner(of: path, killDelay: .zero, limit: .milliseconds(50))
        }
        withExtendedLifetime(lock) {}
        stranger.kill()
        #expect(await stranger.waitUntilExit().status == .signalled(SIGKILL))
    }

    @Test("B14 the lock of a stopped process is taken in time: it continues, and ends")
    func continues() async throws {
        let directory = try TemporaryDirectory(named: "continued")
        let owner = try service("one", in: directory)
        try await useSession(of: owner)
        kill(owner.identifier, SIGSTOP)
        try EngineLock.endOwner(of: directory.path(of: "transfers"), killDelay: .seconds(50), limit: .seconds(50))
        withExtendedLifetime(try EngineLock.take(of: directory.path(of: "transfers"))) {}
    }

    @Test("B14 a transfer process that does not obey is killed")
    func disobedient() async throws {
        let directory = try TemporaryDirectory(named: "disobedient")
        _ = try directory.write([], to: "lock")
        let script = """
            use Fcntl; $SIG{TERM} = "IGNORE"; open(F, "+<", $ARGV[0]); flock(F, 2);
            my $lock = pack("s s x4 q q l x4", F_WRLCK, 0, 0, 0, 0);
            fcntl(F, F_SETLK, $lock) and syswrite(STDOUT, "ready"); sleep;
            """
        let owner = try Subprocess("perl", arguments: ["-e", script, directory.path(of: "lock")])
        #expect(await owner.waitForOutput("ready"))
        try EngineLock.endOwner(of: directory.path, killDelay: .milliseconds(20))
        #expect(await owner.waitUntilExit().status == .signalled(SIGKILL))
    }
}
