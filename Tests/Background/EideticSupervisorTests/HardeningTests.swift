import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Scarce resources and untidy applications", .serialized, .timeLimit(.minutes(3)))
struct HardeningTests {
    private static let fast = ["--limit", "idle=10"]

    /// Sets the soft limit of a process's open files.
    private func limitFiles(of process: Int32, to count: Int) async throws {
        let result = try await Subprocess.run("prlimit", arguments: ["--pid", "\(process)", "--nofile=\(count):"])
        #expect(result.status == .exited(0), "\(result.errorText)")
    }

    @Test("B06 a supervisor without descriptors waits, and accepts when there are some again")
    func noDescriptors() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], environment: ["EIDETIC_LOG": "background=error"])
        let process = daemon.process.identifier
        let limit = try #require(KernelFile.read("/proc/\(process)/limits")?.split(separator: "\n"))
            .first { $0.hasPrefix("Max open files") }?.split(separator: " ")[3]
        _ = try daemon.list()
        try await limitFiles(of: process, to: 3)
        let socket = try PacketSocket.connect(to: daemon.directory.path(of: "run/control"))
        _ = try socket.send(WireWriter.encode(ControlRequest.list))
        #expect(await daemon.process.waitForOutput("cannot accept a connection"), "\(daemon.process.errorsSoFar)")
        try await limitFiles(of: process, to: try #require(limit.flatMap { Int($0) }))
        var polled = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
        #expect(poll(&polled, 1, 60_000) == 1)
        await daemon.finish()
    }

    @Test(
        "B06 the welcome waits while too many descriptors are in flight",
        .enabled(if: geteuid() == 0, "taking a capability away needs root")
    )
    func tooManyReferences() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0])
        await daemon.kill()
        // The kernel exempts processes with these capabilities.
        try await daemon.start(withoutCapabilities: ["sys_admin", "sys_resource"])
        try await limitFiles(of: daemon.process.identifier, to: 60)
        let (first, second) = try PacketSocket.makePair()
        let files = [Int32](repeating: first.rawValue, count: 16)
        for _ in 0..<5 { #expect(try first.send([1], descriptors: files)) }
        try daemon.install("one")
        try daemon.perform(.launch(identifier: "one", url: nil, inBackground: false))
        let isGreeted = await daemon.waitForStatuses { _ in
            (try? daemon.lines(.explain(identifier: "one")).contains { $0.contains("has no connection") }) == false
        }
        #expect(isGreeted && !daemon.output.contains("one welcome"))
        for _ in 0..<5 { _ = try second.receive() }
        await daemon.expectOutput("one welcome")
        await daemon.expectState(.active, of: "one")
        await daemon.finish()
    }

    @Test("B06 the queries of URLs, their fragments and passwords are not written to the log")
    func secretsInURLs() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast + ["--limit", "callback=1500"])
        let url = "x://user:secret1@host/path?token=secret2#secret3"
        try daemon.install("one", ["--block", "openURL \(url)"])
        try daemon.perform(.launch(identifier: "one", url: url, inBackground: false))
        await daemon.expectOutput("one openURL")
        let why = try daemon.lines(.explain(identifier: "one"))
        #expect(why.contains { $0.contains("x://host/path") }, "\(why)")
        await daemon.expectState(.notRunning, of: "one")
        let log = try daemon.lines(.log(identifier: "one", count: 50))
        #expect(log.contains { $0.contains("opening x://host/path took too long") }, "\(log)")
        #expect(!(log + why).contains { $0.contains("secret") })
        let file = try #require(KernelFile.read(daemon.directory.path(of: "run/log")))
        #expect(!file.contains("secret"))
        await daemon.finish()
    }

    /// Suspends an application that has chosen its memory priority, whose file is the second result.
    private func suspendWithMemoryPriority(_ priority: String) async throws -> (Daemon, path: String) {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        try await daemon.launchInForeground("one")
        let path = "/proc/\(try #require(try daemon.status(of: "one")?.process))/oom_score_adj"
        try KernelFile.write(priority, to: path)
        try await daemon.suspend("one")
        return (daemon, path)
    }

    @Test("B01 the memory priority that an application has chosen holds again when it is in the foreground")
    func memoryPriority() async throws {
        let (daemon, path) = try await suspendWithMemoryPriority("300")
        #expect(KernelFile.read(path) == "900\n")
        try await daemon.resume("one")
        #expect(KernelFile.read(path) == "300\n")
        try await daemon.suspend("one")
        // Without a supervisor it runs on like any other.
        daemon.process.kill(SIGTERM)
        await daemon.waitUntilEnded()
        #expect(KernelFile.read(path) == "300\n")
        try await daemon.start()
        await daemon.finish()
    }

    @Test("B01 the memory priority that an application has chosen outlives the supervisor that suspended it")
    func memoryPriorityAfterRecovery() async throws {
        let (daemon, path) = try await suspendWithMemoryPriority("300")
        try await daemon.replace()
        #expect(KernelFile.read(path) == "900\n")
        try await daemon.resume("one")
        #expect(KernelFile.read(path) == "300\n")
        await daemon.finish()
    }

    @Test("B07 an application that a wake continues is no longer the kernel's first choice when memory is short")
    func memoryPriorityOfWake() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        try await daemon.launchInForeground("one")
        try await daemon.suspend("one")
        let status = try #require(try daemon.status(of: "one"))
        let path = "/proc/\(try #require(status.process))/oom_score_adj"
        #expect(KernelFile.read(path) == "900\n")
        try daemon.perform(.wake(identifier: "one", kind: .push))
        await daemon.expectOutput("one wake push")
        // The time of the suspension is kept when it has ended.
        #expect(try #require(try daemon.status(of: "one")).suspendedTime > status.suspendedTime)
        #expect(KernelFile.read(path) == "200\n")
        await daemon.finish()
    }

    @Test("B01 a child that has left the control group alone is taken back, and suspended with its parent")
    func strayChild() async throws {
        guard ControlGroups.unavailability == nil else { return }
        let daemon = try await Daemon(.group, Self.fast)
        try await daemon.launchInForeground("one", ["--fork"])
        await daemon.expectOutput("child ")
        let line = daemon.output.split(separator: "\n").first { $0.hasPrefix("child ") }
        let child = try #require(line.flatMap { Int32($0.dropFirst(6)) })
        try KernelFile.write("\(child)", to: "\(try ControlGroups.parent().path)/cgroup.procs")
        try await daemon.suspend("one")
        #expect(GroupHierarchy.group(of: child)?.hasSuffix("/one@1") == true)
        let log = try daemon.lines(.log(identifier: "one", count: 9))
        #expect(log.contains { $0.contains("process \(child) had left its control group") }, "\(log)")
        await daemon.finish()
    }

    @Test("B01 `why` names processes that wait in the kernel; every thread is slowed down if they cannot be frozen")
    func uninterruptible() async throws {
        let daemon = try await Daemon(.group, ["--limit", "idle=20", "--limit", "freeze=200"])
        guard let hang = HangingFileSystem(at: daemon.directory.path(of: "hang")) else { return await daemon.finish() }
        try await daemon.launchInForeground("one", ["--touch", hang.path])
        try daemon.perform(.background(identifier: "one"))
        let process = try #require(try daemon.status(of: "one")?.process)
        await daemon.expectLine(.log(identifier: "one", count: 9)) { $0.contains("unfreezable") }
        if ProcessStatus.threads(of: process).contains(where: { $0.state == "D" }) {
            let why = try daemon.lines(.explain(identifier: "one"))
            #expect(why.contains { $0.contains("process \(process) waits in the kernel") }, "\(why)")
        }
        if !daemon.output.contains("least share") {
            let threads = KernelFile.names(in: "/proc/\(process)/task")
            let priorities = threads.map { KernelFile.read("/proc/\(process)/task/\($0)/stat")?.nice }
            #expect(threads.count == 2 && priorities.allSatisfy { $0 == "19" }, "\(priorities)")
        }
        await daemon.finish()
    }

    @Test("B06 1,000 applications are known; a further one is refused, or takes the place of one that has ended")
    func applicationLimit() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        let program = ProgramDescription(executable: "/bin/true")
        try daemon.perform(.install(identifier: "app1", program: program))
        await daemon.kill()
        let record = try FileSystem().contents(of: daemon.directory.path(of: "run/applications/app1/record"))
        for number in 2...999 { try daemon.directory.write(record, to: "run/applications/app\(number)/record") }
        try await daemon.start()
        let probe = Daemon.probe
        let environment: [String: String?] = ["EIDETIC_RUNTIME_DIR": daemon.directory.path(of: "run")]
        let words = ["supervised", "--name", "stranger", "--identifier"]
        let stranger = try Subprocess(probe, arguments: words + ["stranger"], environment: environment)
        await daemon.expectState(.active, of: "stranger")
        let another = try await Subprocess.run(probe, arguments: words + ["another"], environment: environment)
        #expect(another.status == .exited(7) && another.outputText == "stranger refused tooManyRequests\n")
        guard
            case .refused(.failed, let message)? = try daemon.request(.install(identifier: "app1001", program: program))
                .first
        else { throw SystemError(.receive, errorNumber: ENODATA, path: "no refusal") }
        #expect(message.contains("1000"))
        try daemon.perform(.install(identifier: "app1", program: program))
        stranger.kill()
        await daemon.expectState(.notRunning, of: "stranger")
        let isInstalled = await daemon.waitForStatuses { _ in
            (try? daemon.request(.install(identifier: "app1001", program: program))) == [.done]
        }
        #expect(try isInstalled && daemon.status(of: "stranger") == nil)
        await daemon.finish()
    }

    @Test("B06 an identifier without a program and without a process is forgotten, one with a program is not")
    func forgotten() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast + ["--limit", "forget=50"])
        try daemon.install("kept")
        let stranger = try Subprocess(
            Daemon.probe,
            arguments: ["supervised", "--name", "stranger", "--identifier", "one"],
            environment: ["EIDETIC_RUNTIME_DIR": daemon.directory.path(of: "run")]
        )
        await daemon.expectState(.active, of: "one")
        stranger.kill()
        _ = await stranger.waitUntilExit()
        let isForgotten = await daemon.waitForStatuses { !$0.contains { $0.identifier == "one" } }
        #expect(isForgotten)
        #expect(access(daemon.directory.path(of: "run/applications/one"), F_OK) != 0)
        #expect(try daemon.status(of: "kept") != nil)
        await daemon.finish()
    }
}

extension String {
    /// The priority in a line of `/proc/PID/stat`.
    fileprivate var nice: Substring? {
        let fields = lastIndex(of: ")").map { self[index(after: $0)...].split(separator: " ") } ?? []
        return fields.count > 16 ? fields[16] : nil
    }
}
