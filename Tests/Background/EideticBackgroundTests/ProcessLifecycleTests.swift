import EideticBackground
import EideticLifecycle
import EideticTestSupport
import Glibc
import Testing

@Suite("Lifecycle of a real process", .timeLimit(.minutes(2)))
struct ProcessLifecycleTests {
    static let launch = ["willFinishLaunching inactive", "didFinishLaunching inactive", "didBecomeActive active"]
    static let leave = ["willResignActive active", "didEnterBackground background"]
    static let end = ["willTerminate background", "late begin refused"]

    /// Returns the callbacks among the lines, in order.
    private func callbacks(in lines: [String]) -> [String] {
        lines.filter { line in ["will", "did", "late", "expired", "done"].contains { line.hasPrefix($0) } }
    }

    @Test("B02 B04 B05 B06 B17 each path through the state table, in a real process", arguments: ProcessLifecycle.all)
    func lifecycle(_ lifecycle: ProcessLifecycle) async throws {
        let directory = try TemporaryDirectory(named: "row")
        let options = ["--identifier", "org.example.row", "--state-directory", directory.path]
        _ = try await run(options + ["--archive", ProcessLifecycle.earlierArchive], terminatingAt: "state active")
        let own = ["--archive", ProcessLifecycle.ownArchive]
        let end = try await run(options + own + lifecycle.arguments, terminatingAt: lifecycle.terminationMoment)
        #expect(end.status == lifecycle.expectedStatus, "\(end)")
        #expect(callbacks(in: end.lines) == lifecycle.callbacks)
        #expect(end.errors.contains(lifecycle.expectedReport), "\(end.errors)")
        let after = try await run(options, terminatingAt: "state active")
        let archives = after.lines.filter { $0.hasPrefix("archive") }
        #expect(archives == lifecycle.nextArchive.map { ["archive \($0)"] } ?? [])
    }

    private func run(
        _ arguments: [String],
        terminatingAt moment: ProcessLifecycle.Moment? = "didBecomeActive",
        by signal: Int32 = SIGTERM
    ) async throws -> (status: EideticTestSupport.ExitStatus, lines: [String], errors: String) {
        let probe = try ProbeProcess(arguments)
        if let moment {
            await probe.expectOutput(moment.output, times: moment.count)
            probe.process.kill(signal)
        }
        return await probe.finish()
    }

    @Test(
        "B02 B17 SIGTERM, SIGINT and SIGHUP lead to all callbacks in order, and to status 0",
        arguments: [SIGTERM, SIGINT, SIGHUP]
    )
    func termination(signal: Int32) async throws {
        let end = try await run([], by: signal)
        #expect(end.status == .exited(0))
        #expect(callbacks(in: end.lines) == Self.launch + Self.leave + Self.end)
    }

    static let pageProgramPath = ProbeProcess.path.replacing("eidetic-probe", with: "GracefulShutdown")

    @Test(
        "B17 the program of the page about graceful shutdown finishes its work, and exits with status 0",
        .enabled(if: access(pageProgramPath, X_OK) == 0, "skipped: the snippet GracefulShutdown is not built")
    )
    func pageProgram() async throws {
        let program = try Subprocess(
            "sh",
            arguments: ["-c", "exec \(Self.pageProgramPath) 2>&1"],
            environment: ["EIDETIC_LOG": "background=debug"]
        )
        #expect(await program.waitForOutput("→ active"))
        program.kill(SIGTERM)
        let end = await program.waitUntilExit()
        #expect(end.status == .exited(0))
        // Its work is not cut off by the end of the grace period.
        #expect(!end.outputText.contains("expir"), "\(end.outputText)")
    }

    @Test("B17 exit handlers run on the main actor")
    func exitThread() async throws {
        let end = try await run(["--print-exit-thread"], terminatingAt: "state active")
        #expect(end.status == .exited(0))
        #expect(end.lines.filter { $0.hasPrefix("exit ") } == ["exit on the main actor"], "\(end.lines)")
    }

    @Test("B17 a process in which a thread reads standard input exits, as exit handlers of glibc 2.41 wait for it")
    func readInput() async throws {
        #expect(try await run(["--read-input"]).status == .exited(0))
    }

    @Test("B17 a process whose main thread is blocked in reading exits all the same, without exit handlers")
    func blockedMainThread() async throws {
        let end = try await run(["--print-exit-thread", "--block-main-thread"], terminatingAt: "blocked")
        #expect(end.status == .exited(0))
        #expect(!end.lines.contains { $0.hasPrefix("exit") })
    }

    @Test("B17 a hangup after another request to end does not shorten the grace period; SIGTERM after a hangup does")
    func repeatedHangup() async throws {
        let probe = try ProbeProcess(["--task", "a=-1", "--task", "b=700"])
        await probe.expectOutput("didBecomeActive")
        probe.process.kill(SIGHUP)
        await probe.expectOutput("remaining 2")
        for _ in 0..<3 { probe.process.kill(SIGHUP) }
        await probe.expectOutput("done b")
        #expect(!probe.process.outputSoFar.contains("expired"))
        probe.process.kill(SIGTERM)
        await probe.expectOutput("expired a")
        #expect(await probe.finish().status == .exited(0))
    }

    @Test("B17 a hangup that is ignored, as by nohup, ends nothing")
    func ignoredHangup() async throws {
        let script = "trap '' HUP; exec \(ProbeProcess.command)"
        let process = try Subprocess("bash", arguments: ["-c", script])
        #expect(await process.waitForOutput("state active"))
        process.kill(SIGHUP)
        process.kill(SIGTSTP)
        // Printed by the callback: a task may print the state only after the process has been stopped.
        #expect(await process.waitForOutput("didEnterBackground"))
        #expect(!process.outputSoFar.contains("willTerminate"))
    }

    @Test("B02 each callback on the way to the background and back has its state")
    func backgroundAndBack() async throws {
        let lines = callbacks(
            in: try await run(
                ["--background", "--foreground"],
                terminatingAt: .init("didBecomeActive active", times: 2)
            ).lines
        )
        let back = ["willEnterForeground background", "didBecomeActive active"]
        #expect(lines.starts(with: Self.launch + Self.leave + back))
    }

    @Test("B02 an interruption makes the application inactive, and its end active")
    func interruption() async throws {
        let end = try await run(
            ["--inactive", "--foreground"],
            terminatingAt: .init("didBecomeActive active", times: 2)
        )
        #expect(end.status == .exited(0))
        let seen = callbacks(in: end.lines).prefix(5)
        #expect(Array(seen) == Self.launch + ["willResignActive active", "didBecomeActive active"])
    }

    @Test("B03 B17 termination waits until all tasks have ended, and no longer")
    func waitsForTasks() async throws {
        let end = try await run(["--task", "short=300", "--task", "long=900", "--task", "none=0"])
        #expect(end.status == .exited(0))
        #expect(
            callbacks(in: end.lines) == Self.launch + Self.leave + ["done none", "done short", "done long"] + Self.end
        )
    }

    @Test(
        "B03 B17 background time is the budget, endless without one, and termination shortens it to the grace period",
        arguments: [
            (["--background", "--budget", "600000"], 300...599), (["--background"], Int.max...Int.max), ([], 0...0),
        ]
    )
    func remainingTime(arguments: [String], seconds: ClosedRange<Int>) async throws {
        let probe = try ProbeProcess(["--task", "up=-1", "--grace", "300"] + arguments)
        await probe.expectOutput(arguments.isEmpty ? "didBecomeActive" : "remaining")
        probe.process.kill(SIGTERM)
        let remaining = await probe.finish().lines.compactMap { $0.number(after: "remaining ") }
        #expect(remaining.count == 1 && remaining.allSatisfy(seconds.contains), "\(remaining)")
    }

    @Test(
        "B17 a request to terminate leaves open tasks 25 s by default, for each signal that requests it",
        arguments: [SIGTERM, SIGINT, SIGHUP]
    )
    func defaultGracePeriod(signal: Int32) async throws {
        let probe = try ProbeProcess(["--task", "up=-1"])
        await probe.expectOutput("state active")
        probe.process.kill(signal)
        await probe.expectOutput("remaining ")
        // The second request ends the period.
        probe.process.kill(SIGTERM)
        let end = await probe.finish()
        #expect(end.status == .exited(0) && end.lines.contains("expired up"), "\(end)")
        let remaining = end.lines.compactMap { $0.number(after: "remaining ") }
        #expect(remaining.count == 1 && remaining.allSatisfy((10...24).contains), "\(remaining)")
    }

    @Test(
        "B17 a task that does not end expires 25 s after SIGTERM, and the process exits with status 0",
        .enabled(if: Torture.isFull, "skipped: takes half a minute; EIDETIC_TORTURE=1 runs it")
    )
    func realGracePeriod() async throws {
        let probe = try ProbeProcess(["--task", "up=-1"])
        await probe.expectOutput("state active")
        let clock = ContinuousClock()
        let start = clock.now
        probe.process.kill(SIGTERM)
        await probe.expectOutput("expired up")
        let time = (clock.now - start) / .seconds(1)
        #expect(time > 24.9 && time < 26, "\(time) s")
        #expect(await probe.finish().status == .exited(0))
    }

    @Test("B04 at expiration all handlers run once, and the process exits with status 0 if they end their tasks")
    func expiry() async throws {
        let end = try await run(["--task", "a=-1", "--task", "b=-1", "--grace", "200"])
        #expect(end.status == .exited(0))
        #expect(callbacks(in: end.lines) == Self.launch + Self.leave + ["expired a", "expired b"] + Self.end)
    }

    @Test("B04 a process with open tasks after their expiration is killed, and the report names them")
    func killedForTasks() async throws {
        let arguments = ["--task", "upload=-1", "--task", "flush=-1", "--budget", "200", "--expiry-limit", "1000"]
        let end = try await run(arguments + ["--background", "--ignore-expiry"], terminatingAt: nil)
        #expect(end.status == .signalled(SIGKILL))
        #expect(end.errors.contains("0x2182bad2") && end.errors.contains("open tasks: flush, upload"))
        #expect(end.lines.filter { $0 == "expired upload" }.count == 1)
    }

    @Test("B04 a blocked main thread does not delay the kill")
    func blockedMain() async throws {
        let arguments = ["--task", "upload=-1", "--hang", "didBecomeActive=30000", "--grace", "100"]
        let probe = try ProbeProcess(arguments + ["--callback-limit", "1500"])
        await probe.expectOutput("didBecomeActive")
        let end = await probe.finish()
        #expect(end.status == .signalled(SIGKILL))
        #expect(end.errors.contains("0x8badf00d: applicationDidBecomeActive took too long"))
        #expect(end.errors.contains("upload"))
    }

    @Test("B03 B04 no task can be opened during expiration")
    func beginDuringExpiry() async throws {
        #expect(
            try await run(["--task", "a=-1", "--grace", "100", "--begin-at-expiry"]).lines.contains(
                "begin at expiry refused"
            )
        )
    }

    @Test("B05 a didEnterBackground that hangs is killed at its limit, with its code")
    func backgroundLimit() async throws {
        let end = try await run(["--hang", "didEnterBackground=60000", "--background-limit", "300"])
        #expect(end.status == .signalled(SIGKILL))
        #expect(end.errors.contains("0x8badf00d: applicationDidEnterBackground took too long"), "\(end.errors)")
    }

    @Test("B02 B05 the limits are 20 s for the launch, and 5 s for entering the background and for termination")
    func defaultLimits() {
        let rules = LifecycleRules()
        #expect(rules.launchLimit == .seconds(20))
        #expect(rules.backgroundLimit == .seconds(5) && rules.terminationLimit == .seconds(5))
    }

    @Test(
        "B02 B05 a launch, an entry into the background and a termination that hang are killed at their real limits",
        .enabled(if: Torture.isFull, "skipped: takes half a minute; EIDETIC_TORTURE=1 runs it"),
        arguments: [
            ("didFinishLaunching", 20.0, "the launch"), ("didEnterBackground", 5.0, "applicationDidEnterBackground"),
            ("willTerminate", 5.0, "applicationWillTerminate"),
        ]
    )
    func realLimits(callback: String, limit: Double, name: String) async throws {
        let probe = try ProbeProcess(["--hang", "\(callback)=60000"])
        if callback != "didFinishLaunching" {
            await probe.expectOutput("didBecomeActive")
            probe.process.kill(SIGTERM)
        }
        await probe.expectOutput(callback)
        let clock = ContinuousClock()
        let began = clock.now
        let end = await probe.finish()
        let took = (clock.now - began) / .seconds(1)
        #expect(end.status == .signalled(SIGKILL))
        #expect(end.errors.contains("0x8badf00d: \(name) took too long"), "\(end.errors)")
        #expect(abs(took - limit) < 0.3, "\(took) s")
    }

    @Test("B04 a library's handler that blocks costs the process its life, and no other handler its call")
    func blockedHandler() async throws {
        let arguments = ["--blocking-library-task", "stuck", "--library-task", "first", "--library-task", "second"]
        let end = try await run(arguments + ["--task", "own=-1", "--grace", "100", "--expiry-limit", "1500"])
        #expect(end.status == .signalled(SIGKILL))
        #expect(end.errors.hasSuffix("open tasks: stuck\n"), "\(end.errors)")
        #expect(Set(callbacks(in: end.lines).suffix(3)) == ["expired first", "expired second", "expired own"])
    }

    @Test("B17 a stream of states that nobody consumes delays termination by its own limit, not by the grace period")
    func observerIsLetGo() async throws {
        let probe = try ProbeProcess(["--keep-states", "--grace", "600000", "--observer-limit", "300"])
        await probe.expectOutput("didBecomeActive")
        await probe.expectOutput("consumed ")
        probe.process.kill(SIGTERM)
        // The grace period is longer than the time limit of this test.
        let end = await probe.finish()
        #expect(end.status == .exited(0), "\(end.errors)")
        #expect(end.lines.contains("stopped consuming"))
    }

    @Test("B04 the report names no observer of a stream")
    func observersAreNotNamed() async throws {
        let arguments = ["--keep-states", "--hang", "didEnterBackground=30000", "--background-limit", "300"]
        #expect(try await run(arguments + ["--task", "up=-1"]).errors.hasSuffix("took too long; open tasks: up\n"))
    }

    @Test("B05 a willTerminate that hangs is killed at its limit, with its code")
    func terminationLimit() async throws {
        let end = try await run(["--hang", "willTerminate=60000", "--termination-limit", "300"])
        #expect(end.status == .signalled(SIGKILL))
        #expect(end.errors.contains("0x8badf00d: applicationWillTerminate took too long"))
    }

    @Test("B04 the report is saved even if the standard error has no reader")
    func killedWithoutReader() async throws {
        let directory = try TemporaryDirectory(named: "unread")
        let options = "--identifier org.example.probe --state-directory \(directory.path)"
        // The reader of the program's standard error has ended.
        let script = """
            \(ProbeProcess.command) \(options) --task up=-1 --budget 100 --expiry-limit 100 --background --ignore-expiry \
                2> >(exec 0<&-) & wait $!; echo status $?
            """
        let result = try await Subprocess.run("bash", arguments: ["-c", script])
        #expect(result.outputText.contains("status 137"), "\(result.outputText)")
        let again = try ProbeProcess(["--identifier", "org.example.probe", "--state-directory", directory.path])
        await again.expectOutput("didBecomeActive")
        again.process.kill(SIGTERM)
        #expect(await again.finish().lines.contains { $0.hasPrefix("report") && $0.hasSuffix("open tasks: up") })
    }

    @Test("B04 the handler of an ended task is not called")
    func endedInTime() async throws {
        let arguments = ["--task", "a=-1", "--task", "b=-1", "--grace", "100", "--end-all-at-expiry"]
        let end = try await run(arguments)
        #expect(end.status == .exited(0))
        #expect(callbacks(in: end.lines) == Self.launch + Self.leave + ["expired a"] + Self.end)
    }

    @Test("B03 B17 termination never interrupts an open task, however short the tasks are")
    func noTaskIsCutOff() async throws {
        for _ in 0..<Torture.repetitions(10, full: 300) {
            let probe = try ProbeProcess(["--storm", "4"])
            await probe.expectOutput("didBecomeActive")
            probe.process.kill(SIGTERM)
            let end = await probe.finish()
            #expect(end.status == .exited(0), "\(end.errors)")
            #expect(end.lines.contains("inside 0"), "\(end.lines)")
        }
    }

    @Test("B17 an abandoned stream of states delays termination by at most the grace period, without a kill")
    func abandonedStream() async throws {
        let end = try await run(["--keep-states", "--grace", "300"], terminatingAt: "consumed active")
        #expect(end.lines.contains("stopped consuming"))
        #expect(end.status == .exited(0), "\(end.errors)")
    }

    @Test(
        "B06 an application that exits on suspend ends when it leaves the foreground",
        arguments: ["--exits-on-suspend", "--no-multitasking"]
    )
    func exitsInstead(option: String) async throws {
        let end = await (try ProbeProcess([option, "--background"]).finish())
        #expect(end.status == .exited(0))
        #expect(callbacks(in: end.lines) == Self.launch + Self.leave + Self.end)
    }

    @Test(
        "B03 an application knows whether it can run in the background",
        arguments: [([], "multitasking true"), (["--no-multitasking"], "multitasking false")]
    )
    func multitasking(options: [String], line: String) async throws {
        #expect(try await run(["--print-multitasking"] + options, terminatingAt: "state active").lines.contains(line))
    }

    @Test("B17 a second signal expires the tasks at once, a third one kills the process")
    func secondSignal() async throws {
        let probe = try ProbeProcess(["--task", "a=-1", "--ignore-expiry"])
        await probe.expectOutput("didBecomeActive")
        probe.process.kill(SIGTERM)
        await probe.expectOutput("remaining")
        probe.process.kill(SIGTERM)
        await probe.expectOutput("expired a")
        probe.process.kill(SIGTERM)
        #expect(await probe.finish().status == .signalled(SIGTERM))
    }
}
