import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Watchdogs and budgets of single processes", .serialized, .timeLimit(.minutes(3)))
struct WatchdogTests {
    private static let fast = ["--limit", "idle=10"]

    @Test("B05 a traced process is spared by the watchdog, which says so; killed when the debugger has left")
    func tracedProcess() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast + ["--limit", "background=1500"])
        try await daemon.launchInForeground("one", ["--block", "didEnterBackground"])
        let process = try #require(try daemon.status(of: "one")?.process)
        let script = """
            import ctypes, sys
            seize = ctypes.CDLL(None).ptrace(0x4206, int(sys.argv[1]), 0, 0)
            print("attached", seize, flush=True)
            import signal; signal.pause()
            """
        let tracer = try Subprocess("/usr/bin/env", arguments: ["python3", "-c", script, "\(process)"])
        #expect(await tracer.waitForOutput("attached 0"))
        try daemon.perform(.background(identifier: "one"))
        let isSpared = await daemon.waitForStatuses { statuses in
            let lines = (try? daemon.lines(.log(identifier: "one", count: 9))) ?? []
            return lines.contains { $0.contains("traced by process") } || statuses.contains { $0.state == .notRunning }
        }
        #expect(isSpared)
        #expect(try daemon.lines(.explain(identifier: "one")).contains { $0.contains("traced by process") })
        #expect(try daemon.status(of: "one")?.state == .background)
        tracer.kill()
        _ = await tracer.waitUntilExit()
        await daemon.expectState(.notRunning, of: "one")
        #expect(try daemon.status(of: "one")?.lastExit?.contains("0x8badf00d") == true)
        await daemon.finish()
    }

    @Test("B04 the log of a watchdog's kill names the open tasks, although they have not expired")
    func namesOfTasks() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast + ["--limit", "background=1500"])
        var program = ProgramDescription(executable: Daemon.probe)
        program.arguments = ["background", "--task", "upload=-1", "--hang", "didEnterBackground=60000"]
        program.environment = ["PATH=/usr/bin:/bin"]
        try daemon.perform(.install(identifier: "one", program: program))
        try daemon.perform(.launch(identifier: "one", url: nil, inBackground: false))
        await daemon.expectState(.active, of: "one")
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectState(.notRunning, of: "one")
        let exit = try #require(try daemon.status(of: "one")?.lastExit)
        #expect(exit.contains("0x8badf00d") && exit.contains("open tasks: upload"), "\(exit)")
        await daemon.finish()
    }

    @Test("B04 tasks whose names the application does not tell are counted in the log of a kill")
    func countOfTasks() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast + ["--limit", "callback=1500"])
        try await daemon.launchInForeground("one", ["--task", "flush", "--block", "willEnterForeground"])
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectOutput("one task flush")
        try daemon.perform(.foreground(identifier: "one"))
        await daemon.expectState(.notRunning, of: "one")
        let exit = try #require(try daemon.status(of: "one")?.lastExit)
        #expect(exit.contains("0x8badf00d") && exit.contains("1 open task"), "\(exit)")
        await daemon.finish()
    }

    @Test("B03 the background time that a process asks for does not hold for the next one")
    func budgetOfOneProcess() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        for (arguments, limit) in [(["--budget", "20"], 20), ([], 600)] {
            try await daemon.launchInForeground("one", ["--task", "flush"] + arguments)
            try daemon.perform(.background(identifier: "one"))
            await daemon.expectState(.background, of: "one")
            await daemon.expectOutput("one task flush", times: limit == 20 ? 1 : 2)
            let remaining = try #require(try daemon.status(of: "one")?.backgroundTimeRemaining)
            #expect(remaining > .zero && remaining <= .seconds(limit) && (limit == 20 || remaining > .seconds(20)))
            try daemon.perform(.quit(identifier: "one", force: true))
            await daemon.expectState(.notRunning, of: "one")
        }
        await daemon.finish()
    }
}
