import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("The keeper, and the release of applications", .serialized, .timeLimit(.minutes(3)))
struct KeeperTests {
    /// Suspends an application, then makes the start of another supervisor impossible.
    private func suspendedWithoutSuccessor(_ kind: FreezerKind, _ arguments: [String]) async throws -> (Daemon, Int32) {
        let daemon = try await Daemon(kind, ["--limit", "idle=10"] + arguments)
        try await daemon.launchInForeground("one")
        try await daemon.suspend("one")
        let process = try #require(try daemon.status(of: "one")?.process)
        let socket = daemon.directory.path(of: "run/control")
        unlink(socket)
        #expect(mkdir(socket, 0o700) == 0 && mkdir("\(socket)/full", 0o700) == 0)
        return (daemon, process)
    }

    private func isFrozen(_ process: Int32, in daemon: Daemon) -> Bool {
        if daemon.freezer == .signals { return ProcessStatus(of: process)?.state == "T" }
        let group = GroupHierarchy.group(of: process) ?? "/nonexistent"
        return KernelFile.read("\(group)/cgroup.freeze") == "1\n"
    }

    @Test("B05 a supervisor that cannot start again leaves nobody frozen", arguments: ControlGroups.kinds)
    func startFailures(kind: FreezerKind) async throws {
        let (daemon, process) = try await suspendedWithoutSuccessor(kind, ["--keeper"])
        #expect(isFrozen(process, in: daemon))
        let child = try #require(daemon.children.first)
        kill(child, SIGKILL)
        await daemon.waitUntilEnded()
        #expect(!isFrozen(process, in: daemon))
        kill(process, SIGKILL)
        await daemon.finish()
    }

    @Test("B05 --release needs no record, and writes nothing", arguments: ControlGroups.kinds)
    func release(kind: FreezerKind) async throws {
        let (daemon, process) = try await suspendedWithoutSuccessor(kind, [])
        await daemon.kill()
        try daemon.directory.write([1, 2, 3], to: "run/applications/one/record")
        unlink(daemon.directory.path(of: "run/generation"))
        mkdir(daemon.directory.path(of: "run/generation"), 0o700)
        #expect(isFrozen(process, in: daemon))
        let result = try await Subprocess.run(
            Daemon.executable("eideticd"),
            arguments: daemon.arguments + ["--release"]
        )
        #expect(result.status == .exited(0), "\(result.errorText)")
        #expect(!isFrozen(process, in: daemon))
        kill(process, SIGKILL)
        await daemon.finish()
    }

    @Test(
        "B05 a directory that cannot be made is no crash: the keeper says so once, and ends",
        arguments: [
            ("/proc/nonexistent/eidetic", "mkdir /proc"), ("/proc/1/eidetic", "mkdir /proc"),
            ("/etc/passwd/eidetic", "mkdir /etc/passwd"),
            ("/tmp/" + String(repeating: "long", count: 25), "File name too long"),
        ]
    )
    func unusableDirectory(path: String, reason: String) async throws {
        let result = try await Subprocess.run(
            Daemon.executable("eideticd"),
            arguments: ["--keeper", "--freezer", "sigstop", "--runtime-directory", path]
        )
        #expect(result.status == .exited(1))
        #expect(!result.errorText.contains("crashed"), "\(result.errorText)")
        #expect(result.errorText.ranges(of: reason).count == 1, "\(result.errorText)")
    }

    @Test("B05 without a runtime directory a user's supervisor has its place in the state directory, and warns")
    func ordinaryUser() async throws {
        if let obstacle = UserModeTests.obstacle { return print("skipped: \(obstacle)") }
        let programs = try await InstalledPrograms(), user = "\(InstalledPrograms.user)"
        let home = programs.path(of: "home"), number = UInt32(InstalledPrograms.user)
        #expect(mkdir(home, 0o700) == 0 && chown(home, number, number) == 0)
        let words = [
            "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "--inh-caps=-all", "env", "-u", "XDG_RUNTIME_DIR",
            "-u", "XDG_STATE_HOME", "-u", "EIDETIC_RUNTIME_DIR", "HOME=\(home)",
        ]
        let keeper = try Subprocess(
            "setpriv",
            arguments: words + [programs.path(of: "eideticd"), "--keeper", "--freezer", "sigstop"]
        )
        #expect(await keeper.waitForOutput("ready"), "\(keeper.errorsSoFar)")
        #expect(keeper.errorsSoFar.contains("warning: XDG_RUNTIME_DIR is not set to an absolute path"))
        let command = words + [programs.path(of: "eidetic"), "app", "list"]
        let list = try await Subprocess.run("setpriv", arguments: command)
        #expect(list.status == .exited(0), "\(list.errorText)")
        keeper.kill(SIGTERM)
        #expect(await keeper.waitUntilExit().status == .exited(0))
    }

    @Test("B05 a stop reaches the supervisor under its keeper at any moment of a restart")
    func stops() async throws {
        for limit in [0, 200, 1_000, 6_000] {
            let directory = try TemporaryDirectory(named: "keeper")
            let keeper = try Subprocess(
                Daemon.executable("eideticd"),
                arguments: [
                    "--keeper", "--freezer", "sigstop", "--runtime-directory", directory.path(of: "run"),
                    "--state-directory", directory.path(of: "state"),
                ]
            )
            try #require(await keeper.waitForOutput("ready"))
            let status = ProcessStatus.all.first { $0.parent == keeper.identifier }
            kill(try #require(status).identifier, SIGKILL)
            RandomMoment.pass(within: .microseconds(limit))
            keeper.kill(SIGTERM)
            _ = await keeper.waitUntilExit()
            #expect(!ProcessStatus.all.contains { $0.parent == keeper.identifier })
        }
    }
}
