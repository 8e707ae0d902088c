import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Processes that evade supervision", .serialized, .timeLimit(.minutes(3)))
struct EscapeTests {
    private static let fast = ["--limit", "idle=10"]

    private func launchShell(_ script: String, as identifier: String, in daemon: Daemon) throws {
        var program = ProgramDescription(executable: "/bin/sh")
        program.arguments = ["-c", script]
        program.environment = ["PATH=/usr/bin:/bin"]
        try daemon.perform(.install(identifier: identifier, program: program))
        try daemon.perform(.launch(identifier: identifier, url: nil, inBackground: false))
    }

    @Test("B05 a process that has left its group is taken back and suspended", arguments: [false, true])
    func leavesGroup(isKilled: Bool) async throws {
        guard ControlGroups.unavailability == nil else { try Test.cancel("there are no control groups") }
        let daemon = try await Daemon(.group, Self.fast)
        try await daemon.launchInForeground("one")
        let process = try #require(try daemon.status(of: "one")?.process)
        let parent = try ControlGroups.parent().path
        try KernelFile.write("\(process)", to: "\(parent)/cgroup.procs")
        if isKilled {
            try daemon.perform(.quit(identifier: "one", force: true))
            await daemon.expectState(.notRunning, of: "one")
            #expect(ProcessStatus(of: process).map { "ZX".contains($0.state) } ?? true)
        } else {
            try await daemon.suspend("one")
            #expect(GroupHierarchy.group(of: process)?.hasSuffix("/one@1") == true)
        }
        await daemon.finish()
    }

    @Test(
        "B05 an orphan that has left its group alone is taken back and suspended, and ends with its application",
        arguments: [false, true]
    )
    func orphanLeavesGroup(isKilled: Bool) async throws {
        guard ControlGroups.unavailability == nil else { try Test.cancel("there are no control groups") }
        let daemon = try await Daemon(.group, Self.fast)
        try await daemon.launchInForeground("one", ["--fork-twice"])
        let supervisor = daemon.process.identifier
        await daemon.waitForStatuses { _ in daemon.children.count == 2 }
        let first = try #require(try daemon.status(of: "one")?.process)
        let orphan = try #require(daemon.children.first { $0 != first })
        #expect(ProcessStatus(of: orphan)?.parent == supervisor)
        try KernelFile.write("\(orphan)", to: "\(try ControlGroups.parent().path)/cgroup.procs")
        if isKilled {
            try daemon.perform(.quit(identifier: "one", force: true))
            await daemon.expectState(.notRunning, of: "one")
            // Collected too.
            await daemon.waitForStatuses { _ in daemon.children.isEmpty }
            #expect(ProcessStatus(of: orphan) == nil)
        } else {
            try await daemon.suspend("one")
            #expect(GroupHierarchy.group(of: orphan)?.hasSuffix("/one@1") == true)
            let ticks = ProcessStatus(of: orphan)?.ticks
            #expect(try daemon.lines(.log(identifier: "one", count: 9)).contains { $0.contains("was taken back") })
            #expect(ProcessStatus(of: orphan)?.ticks == ticks)
        }
        await daemon.finish()
    }

    @Test("B05 daemons of a suspended application stop, continue and are collected", arguments: ControlGroups.kinds)
    func daemons(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, Self.fast + ["--limit", "connection=100"])
        let (fifo, open) = (daemon.directory.path(of: "fifo"), daemon.directory.path(of: "open"))
        #expect(mkfifo(fifo, 0o600) == 0 && mkfifo(open, 0o600) == 0)
        // Half of them with an environment of their own, in the session of the application.
        let script = "for i in 1 2 3 4 5; do (setsid cat \(fifo) &); (env -i /bin/cat \(fifo) &); done"
        try launchShell("\(script); exec cat <> \(open)", as: "one", in: daemon)
        await daemon.expectState(.active, of: "one")
        let first = try #require(try daemon.status(of: "one")?.process)
        func orphans() -> [Int32] { daemon.children.filter { $0 != first } }
        try await eventually("ten daemons", is: 10) {
            orphans().filter { KernelFile.read("/proc/\($0)/comm") == "cat\n" }.count
        }
        try await daemon.suspend("one")
        if kind == .signals {
            #expect(orphans().map { ProcessStatus(of: $0)?.state } == Array(repeating: "T", count: 10))
        }
        try await daemon.resume("one")
        try await eventually("processes of the daemon", is: [first]) {
            // Each of them reads the end of the file, also one that opens it late.
            close(Glibc.open(fifo, O_WRONLY | O_CLOEXEC | O_NONBLOCK))
            return daemon.children
        }
        #expect(KernelFile.read("/proc/\(first)/task/\(first)/children") == "")
        await daemon.finish()
    }

    /// Launches a shell with a daemon that has a session and an environment of its own, and a shell as its parent.
    private func launchWithDaemon(on daemon: Daemon) async throws -> (parent: Int32, child: Int32) {
        let (fifo, open) = (daemon.directory.path(of: "fifo"), daemon.directory.path(of: "open"))
        #expect(mkfifo(fifo, 0o600) == 0 && mkfifo(open, 0o600) == 0)
        let script = "sh -c 'setsid env -i /bin/cat \(fifo) & wait' & exec cat <> \(open)"
        try launchShell(script, as: "one", in: daemon)
        await daemon.expectState(.active, of: "one")
        var found: ProcessStatus?
        try await eventually("a daemon") {
            let first = try daemon.status(of: "one")?.process
            let all = ProcessStatus.all
            found = all.first { status in
                let parent = all.first { $0.identifier == status.parent }
                return first != nil && parent?.parent == first && status.session == status.identifier
                    && KernelFile.read("/proc/\(status.identifier)/comm") == "cat\n"
            }
            return found != nil
        }
        let status = try #require(found)
        return (status.parent, status.identifier)
    }

    private func expectStop(_ isStopped: Bool, of process: Int32) async throws {
        try await eventually("stopped: \(isStopped)", limit: .seconds(20)) {
            ProcessStatus(of: process).map { $0.state == "T" } == isStopped
        }
    }

    @Test("B05 a daemon without a mark stops and ends with its application, if it was once seen below it")
    func unmarkedDaemon() async throws {
        let daemon = try await Daemon(.signals, Self.fast + ["--limit", "connection=100"])
        let (parent, child) = try await launchWithDaemon(on: daemon)
        try await daemon.suspend("one")
        try await expectStop(true, of: child)
        try await daemon.resume("one")
        try await expectStop(false, of: child)
        kill(parent, SIGKILL)
        try await eventually("an orphan") { daemon.children.contains(child) }
        try await daemon.suspend("one")
        try await expectStop(true, of: child)
        try daemon.perform(.quit(identifier: "one", force: true))
        await daemon.expectState(.notRunning, of: "one")
        try await eventually("children", is: [], limit: .seconds(20)) { daemon.children }
        await daemon.finish()
    }

    @Test("B05 what has cleared its environment in the session of an application ends with it")
    func unmarkedChild() async throws {
        let daemon = try await Daemon(.signals, Self.fast + ["--limit", "connection=100"])
        let (fifo, open) = (daemon.directory.path(of: "fifo"), daemon.directory.path(of: "open"))
        #expect(mkfifo(fifo, 0o600) == 0 && mkfifo(open, 0o600) == 0)
        try launchShell("(env -i /bin/cat \(fifo) &); exec cat <> \(open)", as: "one", in: daemon)
        await daemon.expectState(.active, of: "one")
        let first = try #require(try daemon.status(of: "one")?.process)
        try await eventually("programs") {
            daemon.children.count == 2
                && daemon.children.allSatisfy { KernelFile.read("/proc/\($0)/comm") == "cat\n" }
        }
        kill(first, SIGKILL)
        await daemon.expectState(.notRunning, of: "one")
        try await eventually("children", is: [], limit: .seconds(20)) { daemon.children }
        await daemon.finish()
    }

    @Test("B08 a stopped orphan that the next supervisor does not know continues")
    func unknownOrphan() async throws {
        let daemon = try await Daemon(.signals, Self.fast + ["--limit", "connection=100", "--keeper"])
        let (parent, child) = try await launchWithDaemon(on: daemon)
        try await daemon.suspend("one")
        try await expectStop(true, of: child)
        let supervisor = try #require(daemon.children.first)
        kill(parent, SIGKILL)
        try await eventually("an orphan") { ProcessStatus(of: child)?.parent == supervisor }
        kill(supervisor, SIGKILL)
        try await expectStop(false, of: child)
        await daemon.expectState(.suspended, of: "one")
        kill(child, SIGKILL)
        await daemon.finish()
    }

    @Test("B16 a program that cannot be started keeps its saved state, and has not crashed")
    func missingProgram() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0])
        try daemon.perform(.install(identifier: "one", program: ProgramDescription(executable: "/nonexistent")))
        try daemon.directory.write([1], to: "state/one/state")
        guard
            case .refused(.failed, _)? = try daemon.request(
                .launch(identifier: "one", url: nil, inBackground: false)
            ).first
        else { throw SystemError(.open, errorNumber: EIO, path: "launched") }
        #expect(access(daemon.directory.path(of: "state/one/state"), F_OK) == 0)
        #expect(try daemon.lines(.explain(identifier: "one")).allSatisfy { !$0.contains("crashed") })
        #expect(try daemon.status(of: "one")?.lastExit == nil)
        await daemon.finish()
    }

    @Test("B01 a program starts with the signals and the limit of files that the supervisor was started with")
    func dispositions() async throws {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        getrlimit(resource, &limit)
        defer { setrlimit(resource, &limit) }
        var lower = limit
        lower.rlim_cur = min(1_000, limit.rlim_max)
        setrlimit(resource, &lower)
        let daemon = try await Daemon(ControlGroups.kinds[0])
        try launchShell("grep SigIgn /proc/self/status; echo files $(ulimit -Sn); sleep 100", as: "one", in: daemon)
        await daemon.expectOutput("files \(lower.rlim_cur)\n")
        let line = daemon.output.split(separator: "\n").first { $0.hasPrefix("SigIgn:\t") }
        let ignored = try #require(line.flatMap { UInt64($0.dropFirst(8), radix: 16) })
        #expect(ignored & (1 << (SIGPIPE - 1)) == 0)
        await daemon.finish()
    }

    @Test("B05 groups that an application makes below its own end with it")
    func nestedGroups() async throws {
        guard ControlGroups.unavailability == nil else { try Test.cancel("there are no control groups") }
        let daemon = try await Daemon(.group, Self.fast)
        let group = try #require(daemon.controlGroup)
        for number in 1...3 {
            try await daemon.launchInForeground("one")
            #expect(mkdir("\(group)/one@\(number)/a", 0o755) == 0 && mkdir("\(group)/one@\(number)/a/b", 0o755) == 0)
            let process = try #require(try daemon.status(of: "one")?.process)
            try KernelFile.write("\(process)", to: "\(group)/one@\(number)/a/b/cgroup.procs")
            try await daemon.suspend("one")
            try daemon.perform(.quit(identifier: "one", force: true))
            await daemon.expectState(.notRunning, of: "one")
        }
        await daemon.waitForStatuses { _ in !KernelFile.names(in: group).contains { $0.hasPrefix("one@") } }
        #expect(!KernelFile.names(in: group).contains { $0.hasPrefix("one@") })
        await daemon.finish()
    }

    @Test("B06 idle connections do not keep others out")
    func idleConnections() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        var sockets: [PacketSocket] = []
        for name in ["control", "supervisor"] {
            for number in 0..<300 {
                // Connections wait in a queue of limited length until they are accepted.
                if number % 20 == 0 { _ = try daemon.list() }
                sockets.append(try PacketSocket.connect(to: daemon.directory.path(of: "run/\(name)")))
            }
        }
        #expect(try daemon.list().isEmpty)
        try await daemon.launchInForeground("one")
        #expect(sockets.count == 600)
        await daemon.finish()
    }

    @Test("B06 connecting again does not renew the limit of messages")
    func reconnections() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0])
        try await daemon.launchInForeground("one")
        let lines = try daemon.lines(.log(identifier: "one", count: 200)).count
        for _ in 0..<2_000 {
            // Closed at once when the limit is reached.
            guard let socket = try? PacketSocket.connect(to: daemon.directory.path(of: "run/supervisor")) else {
                continue
            }
            _ = try? socket.send([255])
        }
        #expect(try daemon.lines(.log(identifier: "one", count: 200)).count == lines)
        await daemon.finish()
    }

    @Test("a FIFO in the place of a file does not block the start", arguments: ["log", "generation", "record"])
    func fifo(name: String) async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0])
        try daemon.perform(.install(identifier: "one", program: ProgramDescription(executable: "/bin/true")))
        await daemon.kill()
        let path = daemon.directory.path(of: name == "record" ? "run/applications/one/record" : "run/\(name)")
        unlink(path)
        #expect(mkfifo(path, 0o600) == 0)
        try await daemon.start()
        #expect(try daemon.list().count <= 1)
        await daemon.finish()
    }

    @Test("B05 a process whose first thread has ended is stopped and killed by signals")
    func endedFirstThread() async throws {
        let script =
            "import threading, ctypes\ndef spin():\n while True: pass\nthreading.Thread(target=spin).start()\n"
            + "ctypes.CDLL(None).pthread_exit(None)\n"
        var launch = ProgramDescription(executable: "/usr/bin/env")
        launch.arguments = ["python3", "-c", script]
        launch.environment = ["PATH=/usr/local/bin:/usr/bin:/bin"]
        let handle = try ProgramLaunch(launch).start(at: .init())
        try await eventually("state of the first thread", is: "Z") { ProcessStatus(of: handle.identifier)?.state }
        #expect(!handle.hasEnded)
        let freezer = SignalFreezer(root: handle, mark: "none")
        try await eventually("the process is stopped") { freezer.freeze() }
        #expect(freezer.processes == [handle.identifier])
        #expect(ProcessStatus.threads(of: handle.identifier).allSatisfy { "TZ".contains($0.state) })
        freezer.kill()
        await handle.waitForEnd()
        #expect(handle.takeEnd() == .signalled(SIGKILL))
    }
}
