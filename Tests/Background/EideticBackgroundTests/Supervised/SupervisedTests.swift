import EideticBackground
import EideticCore
import EideticSupervision
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("A supervised application", .timeLimit(.minutes(2)))
struct SupervisedTests {
    let directory: TemporaryDirectory
    let listener: PacketSocket
    var path: String { directory.path(of: "supervisor") }

    init() throws {
        directory = try TemporaryDirectory(named: "supervised")
        listener = try PacketSocket.listen(at: directory.path(of: "supervisor"))
    }

    func start(_ arguments: [String] = []) async throws -> (ProbeProcess, ScriptedSupervisor) {
        let probe = try ProbeProcess(["--supervisor-socket", path] + arguments)
        return (probe, try await ScriptedSupervisor.accept(at: listener, directory: directory))
    }

    private func callbacks(in lines: [String]) -> [String] {
        lines.filter { line in ["will", "did", "late", "launched", "wake", "open"].contains { line.hasPrefix($0) } }
    }

    @Test("B02 the supervisor's callbacks run in order, each acknowledged, and the process exits when it is told to")
    func lifecycle() async throws {
        let (probe, supervisor) = try await start(["--identifier", "org.example.app", "--exits-on-suspend"])
        let hello = try await supervisor.greet()
        #expect(hello.identifier == "org.example.app" && hello.declarations.exitsOnSuspend && hello.running == nil)
        try await supervisor.activate()
        try await supervisor.enterBackground()
        try supervisor.page.setPhase(.foreground, deadline: nil)
        try await supervisor.perform(.willEnterForeground)
        try await supervisor.perform(.didBecomeActive)
        try await supervisor.enterBackground()
        try await supervisor.terminate()
        let end = await probe.finish()
        #expect(end.status == .exited(0), "\(end.errors)")
        #expect(end.lines.contains("supervised"))
        let once = ProcessLifecycle.resign + ProcessLifecycle.enter
        #expect(
            callbacks(in: end.lines) == ProcessLifecycle.launch + once + ProcessLifecycle.back + once
                + ProcessLifecycle.terminate
        )
    }

    @Test("B02 a launch into the background builds the interface in the background state, and does not activate")
    func backgroundLaunch() async throws {
        let (probe, supervisor) = try await start()
        try await supervisor.greet()
        try supervisor.page.setPhase(.background, deadline: nil)
        try await supervisor.perform(.launchInBackground(.wake(.fetch)))
        try await supervisor.perform(.wake(WakeReason(.fetch, id: 7)))
        try await supervisor.expect("the result") { $0 == .wakeCompleted(7, .newData) ? () : nil }
        try await supervisor.terminate()
        let end = await probe.finish()
        #expect(
            callbacks(in: end.lines) == [
                "willFinishLaunching background", "launched for wake(EideticBackground.BackgroundWake.Kind.fetch)",
                "didFinishLaunching background", "wake fetch 7",
            ] + ProcessLifecycle.terminate
        )
    }

    @Test("B02 the application answers whether it has opened a URL, before it acknowledges", arguments: [true, false])
    func urls(isHandled: Bool) async throws {
        let (probe, supervisor) = try await start(["--open", isHandled ? "eidetic:" : "other:"])
        try await supervisor.greet()
        try await supervisor.perform(.launch(.url(IncomingURL("eidetic:a", id: 3))))
        let number = try supervisor.deliver(.openURL(IncomingURL("eidetic:a", id: 3)))
        #expect(try await supervisor.next() == .urlAnswered(3, isHandled: isHandled))
        #expect(try await supervisor.next() == .acknowledged(sequence: number))
        await probe.expectOutput("open eidetic:a inactive")
        probe.process.kill(SIGKILL)
    }

    @Test("B04 expiration calls the handlers of all tasks, and cancels wakes")
    func expiration() async throws {
        let (probe, supervisor) = try await start(["--task", "a=-1", "--task", "b=-1", "--hold-wakes"])
        try await supervisor.greet()
        try await supervisor.activate()
        try await supervisor.enterBackground()
        try await supervisor.perform(.wake(WakeReason(.fetch, id: 7)))
        await probe.expectOutput("wake fetch 7")
        #expect(supervisor.page.openTasks ?? 0 >= 2)
        try supervisor.page.setPhase(.expiring, deadline: nil)
        try supervisor.send(.expire(deadline: .seconds(1 << 30)))
        try await supervisor.expect("the result") { $0 == .wakeCompleted(7, .failed) ? () : nil }
        for name in ["expired a", "expired b", "wake cancelled"] { await probe.expectOutput(name) }
        probe.process.kill(SIGKILL)
    }

    @Test("B07 a memory warning reaches the delegate")
    func memoryWarning() async throws {
        let (probe, supervisor) = try await start()
        try await supervisor.greet()
        try await supervisor.activate()
        for (level, name) in [(1, "warning"), (2, "urgent"), (3, "critical"), (99, "critical")] as [(UInt8, String)] {
            try supervisor.send(.memoryWarning(level: level))
            await probe.expectOutput("warned \(name)", times: level == 99 ? 2 : 1)
        }
        probe.process.kill(SIGKILL)
    }

    @Test("B03 the end of the last task in the background is reported, and the count on the page is exact")
    func idle() async throws {
        let (probe, supervisor) = try await start(["--task", "up=3000"])
        try await supervisor.greet()
        try await supervisor.activate()
        #expect(supervisor.page.openTasks ?? 0 >= 1)
        try await supervisor.enterBackground()
        try supervisor.send(.taskNames(request: 5))
        try await supervisor.expect("the names") { $0 == .taskNames(["up"], request: 5) ? () : nil }
        await probe.expectOutput("done up")
        try supervisor.page.requestIdleReport()
        while supervisor.page.openTasks != 0 { try await supervisor.expect("idle") { $0 == .idle ? () : nil } }
        #expect(supervisor.page.openTasks == 0)
        probe.process.kill(SIGKILL)
    }

    @Test("B05 each request for a report that no task is open is answered, although it was reported before")
    func idleReports() async throws {
        let (probe, supervisor) = try await start(["--storm", "1"])
        defer { probe.process.kill(SIGKILL) }
        try await supervisor.greet(messageRate: 1_000_000)
        try await supervisor.activate()
        try await supervisor.enterBackground()
        for _ in 0..<50 {
            try supervisor.page.requestIdleReport()
            try await supervisor.expect("idle") { $0 == .idle ? () : nil }
        }
    }

    @Test("B05 reports that no task is open leave a quarter of the supervisor's message rate to others")
    func idleReportRate() {
        // 30 in a second, and 60 at once.
        var reports = IdleReports(messageRate: 40, at: .seconds(100))
        func countReports(at now: Duration) -> Int {
            (0..<1_000).count { _ in
                reports.isDue = true
                return reports.take(at: now)
            }
        }
        #expect(countReports(at: .seconds(100)) == 60)
        #expect(reports.nextTime(at: .seconds(100)).map { $0 > .seconds(100) && $0 < .seconds(101) } ?? false)
        #expect(countReports(at: .seconds(101)) == 30)
        #expect(countReports(at: .seconds(200)) == 60)
    }

    @Test("B16 saved state is written to the supervisor's directory before the acknowledgement, and offered again")
    func archive() async throws {
        let place = directory.path(of: "archives/org.example.app")
        for round in 0..<2 {
            let (probe, supervisor) = try await start(["--archive", "page 8"])
            defer { probe.process.kill(SIGKILL) }
            try await supervisor.greet(archiveDirectory: place)
            try await supervisor.activate()
            try await supervisor.enterBackground()
            // The line about the saved state comes before that about the launch.
            await probe.expectOutput("didFinishLaunching")
            #expect(try FileSystem().contents(of: "\(place)/state") == Array("page 8".utf8))
            #expect(probe.process.outputSoFar.contains("archive page 8") == (round == 1))
            unlink(directory.path(of: "page 1"))
        }
    }

    @Test("B10 audio is reported to the supervisor")
    func audio() async throws {
        let (probe, supervisor) = try await start(["--audio"])
        try await supervisor.greet()
        try supervisor.deliver(.launch(.user))
        try await supervisor.expect("the assertion") { $0 == .assertion(.audio, isHeld: true) ? () : nil }
        probe.process.kill(SIGKILL)
    }

    @Test("B02 windows, and SIGTERM, are reported to the supervisor, which decides")
    func facts() async throws {
        let (probe, supervisor) = try await start(["--background"])
        try await supervisor.greet()
        try await supervisor.perform(.launch(.user))
        // The probe hides its window as soon as it is active, perhaps before the acknowledgement.
        try supervisor.deliver(.didBecomeActive)
        let hidden = PresentationMessage(isVisible: false, isFocused: true)
        try await supervisor.expect("the presentation") { $0 == .presentation(hidden) ? () : nil }
        probe.process.kill(SIGTERM)
        try await supervisor.expect("the request to end") { $0 == .leaving ? () : nil }
        #expect(!probe.process.outputSoFar.contains("willResignActive"))
        probe.process.kill(SIGKILL)
    }

    @Test("B02 a supervised application watches neither Ctrl-Z nor the memory nor the login manager")
    func silence() async throws {
        let (probe, supervisor) = try await start()
        try await supervisor.greet()
        try await supervisor.activate()
        await probe.expectOutput("state active")
        let own = try OpenResources(of: probe.process.identifier)
        #expect(own.handles(SIGTERM) && !own.handles(SIGTSTP) && !own.handles(SIGCONT))
        // Files of this process may be inherited; the only other socket is the one to the supervisor.
        let opened = Set(own.files).subtracting(try OpenResources(of: getpid()).files)
        #expect(!opened.contains { $0.contains("pressure") || $0.contains("memory") || $0.contains("eventfd") })
        #expect(opened.count { $0.hasPrefix("socket:") } == 1, "\(opened)")
        probe.process.kill(SIGKILL)
        let alone = try ProbeProcess([])
        await alone.expectOutput("state active")
        #expect(try OpenResources(of: alone.process.identifier).handles(SIGTSTP))
        alone.process.kill(SIGKILL)
    }

    @Test("B01 a supervisor that does not follow the protocol is left", arguments: [[0], [255], [2, 1], [1, 9, 9]])
    func malformed(bytes: [UInt8]) async throws {
        let (probe, supervisor) = try await start()
        _ = try await supervisor.next()
        try supervisor.sendBytes(bytes)
        await probe.expectOutput("state active")
        #expect(!probe.process.outputSoFar.contains("supervised"))
        probe.process.kill(SIGTERM)
        #expect(await probe.finish().status == .exited(0))
    }
}

/// The signals that a process handles, and its open files.
struct OpenResources {
    let files: [String]
    private let handledSignals: UInt64

    init(of process: Int32) throws {
        let system = FileSystem()
        files = try system.entryNames(in: "/proc/\(process)/fd").compactMap { name in
            var buffer = [CChar](repeating: 0, count: 512)
            let count = readlink("/proc/\(process)/fd/\(name)", &buffer, buffer.count)
            return count > 0 ? String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
        }
        let status = String(decoding: try system.contents(of: "/proc/\(process)/status"), as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
        handledSignals = line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
    }

    func handles(_ signal: Int32) -> Bool { handledSignals & (1 << UInt64(signal - 1)) != 0 }
}
