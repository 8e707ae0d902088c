import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Processes of an earlier supervisor", .serialized, .timeLimit(.minutes(3)))
struct AdoptionTests {
    private static let fast = ["--limit", "idle=10"]

    /// Replaces the supervisor of an application that waits in a callback, and so does not connect again.
    private func replaceSilently(_ daemon: Daemon, _ limits: [String] = []) async throws -> Int32 {
        try daemon.launch("one", ["--wait", "didBecomeActive"])
        await daemon.expectOutput("one didBecomeActive")
        await daemon.kill()
        try await daemon.start(limits)
        return try #require(try daemon.status(of: "one")?.process)
    }

    @Test("B05 the end of a process that has never connected to its next supervisor is reported")
    func endWithoutConnection() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        let process = try await replaceSilently(daemon)
        kill(process, SIGKILL)
        await daemon.expectState(.notRunning, of: "one")
        #expect(try daemon.status(of: "one")?.lastExit != nil)
        #expect(try daemon.lines(.log(identifier: "one", count: 9)).contains { $0.contains("ended: ") })
        await daemon.finish()
    }

    @Test("B08 requests for a process that does not connect are refused, and `why` tells the reason")
    func requestsWithoutConnection() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        let process = try await replaceSilently(daemon, ["--limit", "reconnection=3000"])
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectLine(.log(identifier: "one", count: 9)) { $0.contains("refused: ") }
        #expect(try daemon.lines(.explain(identifier: "one")).contains { $0.contains("has not connected in time") })
        guard case .refused(.lifecycle, let message)? = try daemon.request(.background(identifier: "one")).first else {
            throw SystemError(.receive, errorNumber: ENODATA, path: "no refusal")
        }
        #expect(message.contains("has not connected"))
        // It may still connect, and is then supervised again.
        kill(process, SIGUSR1)
        let isConnected = await daemon.waitForStatuses { _ in
            (try? daemon.lines(.explain(identifier: "one")).contains { $0.contains("ran before this eideticd") })
                == false
        }
        #expect(isConnected)
        try await daemon.suspend("one")
        await daemon.finish()
    }

    @Test("B05 the rest of an ended application is killed, another application that has inherited its mark is not")
    func inheritedMark() async throws {
        let daemon = try await Daemon(.signals, Self.fast)
        try await daemon.launchInForeground("one", ["--fork-twice"])
        let mark = "\(daemon.directory.path(of: "run")) one@1"
        let other = try Subprocess(
            Daemon.probe,
            arguments: ["supervised", "--name", "two", "--identifier", "two"],
            environment: [
                "EIDETIC_RUNTIME_DIR": daemon.directory.path(of: "run"), SignalFreezer.markName: mark,
            ]
        )
        await daemon.expectState(.active, of: "two")
        let process = try #require(try daemon.status(of: "one")?.process)
        await daemon.kill()
        await killAndWait(process)
        try await daemon.start()
        func marked() -> [Int32] {
            ProcessStatus.all.filter { status in
                status.hasLiveThread
                    && ProcessStatus.environmentValue(of: SignalFreezer.markName, in: status.identifier) == mark
            }.map(\.identifier)
        }
        // The signals of the new supervisor take effect soon.
        try await eventually("processes with the mark", is: [other.identifier]) { marked() }
        await daemon.finish()
    }

    @Test("B05 a process is not killed because its page cannot be opened")
    func unusablePage() async throws {
        let daemon = try await Daemon(.signals, Self.fast)
        try await daemon.launchInForeground("one")
        let process = try #require(try daemon.status(of: "one")?.process)
        await daemon.kill()
        let page = daemon.directory.path(of: "run/applications/one/page.1")
        unlink(page)
        #expect(mkdir(page, 0o700) == 0)
        try await daemon.start()
        #expect(ProcessStatus(of: process)?.state != "Z" && ProcessHandle(identifier: process) != nil)
        #expect(try daemon.lines(.log(identifier: "one", count: 9)).contains { $0.contains("cannot be supervised") })
        kill(process, SIGKILL)
        await daemon.finish()
    }
}

/// The supervisor is killed while its application is in a state of transition.
@Suite("Recovery in every state", .serialized, .timeLimit(.minutes(3)))
struct StateRecoveryTests {
    private static let fast = ["--limit", "idle=10"]

    @Test("B08 a wake that was accepted is delivered once by the next supervisor", arguments: ControlGroups.kinds)
    func acceptedWake(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, Self.fast)
        try daemon.launch("one", ["--wait", "didBecomeActive"])
        await daemon.expectOutput("one didBecomeActive")
        try daemon.perform(.wake(identifier: "one", kind: .push))
        #expect(!daemon.output.contains("wake push"))
        try await daemon.replace()
        kill(try #require(try daemon.status(of: "one")?.process), SIGUSR1)
        await daemon.expectOutput("one wake push")
        try await daemon.replace()
        await daemon.expectState(.active, of: "one")
        #expect(daemon.output.ranges(of: "one wake push").count == 1)
        await daemon.finish()
    }

    @Test(
        "B08 accepted requests outlive a supervisor that is killed before any write or message of its takeover",
        arguments: ["rename", "sendmsg"],
        1...5
    )
    func killedDuringTakeover(call: String, count: Int) async throws {
        let isTraced = try await Subprocess.run("strace", arguments: ["-o", "/dev/null", "true"]).status == .exited(0)
        guard isTraced else { return print("skipped: strace is not installed, or may not trace") }
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        try daemon.launch("one", ["--wait", "didBecomeActive"])
        await daemon.expectOutput("one didBecomeActive")
        let process = try #require(try daemon.status(of: "one")?.process)
        try daemon.perform(.wake(identifier: "one", kind: .push))
        try daemon.perform(.launch(identifier: "one", url: "x:1", inBackground: false))
        await daemon.kill()
        // It may end before it is ready.
        let fault = "inject=\(call):signal=KILL:when=\(count)"
        try? await daemon.start(launcher: ["strace", "-D", "-qq", "-o", "/dev/null", "-e", fault])
        let second = daemon.process.identifier
        kill(process, SIGUSR1)
        // It is killed at this call, or makes fewer.
        try await eventually("the end of the supervisor, or of its work") {
            let isCarriedOut = ["one wake push", "one openURL x:1\n"].allSatisfy(daemon.output.contains)
            return isCarriedOut || ProcessHandle(identifier: second) == nil
        }
        await daemon.kill()
        try await daemon.start()
        await daemon.expectOutput("one wake push")
        await daemon.expectOutput("one openURL x:1\n")
        await daemon.finish()
    }

    @Test("B08 a launch that waits for the end is carried out by the next supervisor", arguments: [nil, "x:1"])
    func waitingLaunch(url: String?) async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        try await daemon.launchInForeground("one", ["--wait", "willTerminate"])
        let process = try #require(try daemon.status(of: "one")?.process)
        try daemon.perform(.quit(identifier: "one", force: false))
        await daemon.expectOutput("one willTerminate")
        try daemon.perform(.launch(identifier: "one", url: url, inBackground: false))
        await daemon.kill()
        kill(process, SIGUSR1)
        try await daemon.start()
        // The acknowledgement was lost with the supervisor, unless the process has ended before.
        kill(process, SIGUSR1)
        await daemon.expectOutput("one launch\n", times: 2)
        if let url { await daemon.expectOutput("one openURL \(url)\n") }
        await daemon.expectState(.active, of: "one")
        #expect(try daemon.status(of: "one")?.process != process)
        await daemon.finish()
    }

    @Test("B08 a wake for an application that ended without a supervisor launches it", arguments: ControlGroups.kinds)
    func wakeOfEndedApplication(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, Self.fast)
        try daemon.launch("one", ["--wait", "didBecomeActive"])
        await daemon.expectOutput("one didBecomeActive")
        let process = try #require(try daemon.status(of: "one")?.process)
        try daemon.perform(.wake(identifier: "one", kind: .fetch))
        await daemon.kill()
        await killAndWait(process)
        try await daemon.start()
        await daemon.expectOutput("one launchInBackground")
        await daemon.expectOutput("one wake fetch")
        #expect(try daemon.status(of: "one")?.lastExit?.contains("no supervisor") == true)
        await daemon.finish()
    }

    @Test(
        "B09 a URL that was accepted reaches the application with its source, also if its process ends meanwhile",
        arguments: [false, true]
    )
    func acceptedURL(isKilled: Bool) async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        try daemon.launch("one", ["--wait", "didBecomeActive"])
        await daemon.expectOutput("one didBecomeActive")
        let process = try #require(try daemon.status(of: "one")?.process)
        var sender = ProgramDescription(executable: Daemon.executable("eidetic-app"))
        sender.arguments = ["open", "--runtime-dir", daemon.directory.path(of: "run"), "one", "x:1"]
        try daemon.perform(.install(identifier: "sender", program: sender))
        try daemon.perform(.launch(identifier: "sender", url: nil, inBackground: false))
        let path = daemon.directory.path(of: "run/applications/one/record")
        // The record is written after the change that clients are told of.
        try await eventually("the URL is recorded") {
            (try? FileSystem().contents(of: path)).map { String(decoding: $0, as: UTF8.self).contains("sender") }
                ?? false
        }
        await daemon.kill()
        if isKilled {
            await killAndWait(process)
        } else {
            kill(process, SIGUSR1)
        }
        try await daemon.start()
        if isKilled {
            // Launched for it, and held up once more.
            await daemon.expectOutput("one didBecomeActive", times: 2)
            kill(try #require(try daemon.status(of: "one")?.process), SIGUSR1)
        }
        await daemon.expectOutput("one openURL x:1 from sender\n")
        #expect(daemon.output.ranges(of: "one openURL").count == 1)
        await daemon.finish()
    }

    @Test("B06 the next supervisor grants the rest of the time to terminate, not the whole again")
    func graceOfTermination() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast + ["--limit", "quit=500"])
        try await daemon.launchInForeground("one", ["--task", "save"])
        try daemon.perform(.quit(identifier: "one", force: false))
        await daemon.expectOutput("one task save")
        await daemon.kill()
        try await daemon.start(["--limit", "quit=60000"])
        await daemon.expectOutput("one expire")
        await daemon.finish()
    }

    @Test("B05 an application with an open task is not suspended by the next supervisor until the task ends")
    func openTask() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast + ["--limit", "budget=2000"])
        try await daemon.launchInForeground("one", ["--task", "upload", "--end-tasks"])
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectOutput("one task upload")
        try await daemon.replace()
        await daemon.expectState(.background, of: "one")
        #expect(try daemon.status(of: "one")?.openTasks == 1)
        await daemon.expectOutput("one expire")
        await daemon.expectState(.suspended, of: "one")
        await daemon.finish()
    }

    @Test("B04 an application whose time expires when its supervisor is killed is killed for its open task in the end")
    func expiring() async throws {
        let daemon = try await Daemon(
            ControlGroups.kinds[0],
            Self.fast + ["--limit", "budget=200", "--limit", "expiration=60000"]
        )
        try await daemon.launchInForeground("one", ["--task", "leak"])
        try daemon.perform(.background(identifier: "one"))
        await daemon.expectOutput("one expire")
        await daemon.kill()
        try await daemon.start(["--limit", "expiration=200"])
        await daemon.expectOutput("one expire", times: 2)
        await daemon.expectState(.notRunning, of: "one")
        #expect(try daemon.status(of: "one")?.lastExit?.contains("0x2182bad2") == true)
        await daemon.finish()
    }

    @Test("B02 an inactive application stays inactive, and becomes active when it has the input again")
    func inactive() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        var program = ProgramDescription(executable: Daemon.probe)
        (program.arguments, program.environment) = (["background", "--inactive"], ["PATH=/usr/bin:/bin"])
        try daemon.perform(.install(identifier: "one", program: program))
        try daemon.perform(.launch(identifier: "one", url: nil, inBackground: false))
        await daemon.expectState(.inactive, of: "one")
        try await daemon.replace()
        // Connected again, and not just as it was recorded.
        let isConnected = await daemon.waitForStatuses { _ in
            (try? daemon.lines(.explain(identifier: "one")).contains { $0.contains("earlier supervisor") }) == false
        }
        #expect(isConnected)
        await daemon.expectState(.inactive, of: "one")
        try await daemon.resume("one")
        await daemon.finish()
    }

    @Test("B06 an application that terminates when its supervisor is killed ends with its callbacks")
    func terminating() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.fast)
        try await daemon.launchInForeground("one", ["--wait", "willTerminate"])
        try daemon.perform(.quit(identifier: "one", force: false))
        await daemon.expectOutput("one willTerminate")
        try await daemon.replace()
        await daemon.expectState(.terminating, of: "one")
        let process = try #require(try daemon.status(of: "one")?.process)
        kill(process, SIGUSR1)
        // The acknowledgement is lost with the supervisor.
        await daemon.expectOutput("one willTerminate", times: 2)
        kill(process, SIGUSR1)
        await daemon.expectState(.notRunning, of: "one")
        #expect(try daemon.status(of: "one")?.lastExit?.contains("killed") == false)
        await daemon.finish()
    }
}
