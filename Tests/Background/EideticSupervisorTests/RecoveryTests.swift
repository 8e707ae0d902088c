import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Recovery of the supervisor", .serialized, .timeLimit(.minutes(30)))
struct RecoveryTests {
    @Test("B05 a suspended application stays suspended when its supervisor is replaced", arguments: ControlGroups.kinds)
    func suspended(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, ["--limit", "idle=10"])
        try await daemon.launchInForeground("one", ["--fork-twice"])
        try await daemon.suspend("one")
        let before = try #require(try daemon.status(of: "one")?.process)
        let ticks = ProcessStatus(of: before)?.ticks
        try await daemon.replace()
        await daemon.expectState(.suspended, of: "one")
        #expect(try daemon.status(of: "one")?.process == before)
        #expect(ProcessStatus(of: before)?.ticks == ticks)
        try daemon.perform(.foreground(identifier: "one"))
        await daemon.expectOutput("one didBecomeActive")
        await daemon.expectState(.active, of: "one")
        await daemon.finish()
    }

    @Test("an application that ended without a supervisor is reported, and can be launched again")
    func endedMeanwhile() async throws {
        let daemon = try await Daemon(.group)
        try await daemon.launchInForeground("one")
        let process = try #require(try daemon.status(of: "one")?.process)
        await daemon.kill()
        await killAndWait(process)
        try await daemon.start()
        #expect(try daemon.status(of: "one")?.state == .notRunning)
        #expect(try daemon.status(of: "one")?.lastExit?.contains("no supervisor") == true)
        try daemon.perform(.launch(identifier: "one", url: nil, inBackground: false))
        await daemon.expectState(.active, of: "one")
        await daemon.finish()
    }

    @Test("only one supervisor uses a directory")
    func exclusiveUse() async throws {
        let daemon = try await Daemon(.group)
        let second = try await Subprocess.run(
            Daemon.executable("eideticd"),
            arguments: ["--runtime-directory", daemon.directory.path(of: "run")]
        )
        #expect(second.status == .exited(1) && second.errorText.contains("another eideticd uses"))
        await daemon.finish()
    }

    @Test(
        "B05 a supervisor killed at random moments loses no application, freezes none for ever, starts none twice",
        arguments: ControlGroups.kinds
    )
    func randomKills(kind: FreezerKind) async throws {
        let count = Torture.repetitions(6, full: 50)
        let daemon = try await Daemon(kind, ["--limit", "idle=5", "--message-rate", "1000"])
        let names = (0..<count).map { "app\($0)" }
        for name in names { try daemon.launch(name) }
        let isLaunched = await daemon.waitForStatuses { $0.allSatisfy { $0.state == .active } && $0.count == count }
        #expect(isLaunched)
        let before = daemon.markedProcesses
        #expect(before.count == count && before.values.allSatisfy { $0.count == 1 })
        for _ in 0..<Torture.repetitions(3, full: 100) {
            // Requests are under way when the supervisor dies; the moment is random.
            for name in names where Bool.random() {
                let request: ControlRequest =
                    Bool.random() ? .background(identifier: name) : .foreground(identifier: name)
                _ = try? daemon.request(request)
            }
            RandomMoment.pass(within: .milliseconds(5))
            try await daemon.replace()
            #expect(daemon.markedProcesses == before)
        }
        for name in names {
            let isAccepted = await daemon.waitForStatuses { _ in
                (try? daemon.request(.foreground(identifier: name))) == [.done]
            }
            #expect(isAccepted)
        }
        let isActive = await daemon.waitForStatuses { $0.allSatisfy { $0.state == .active } }
        #expect(isActive, "\((try? daemon.list().map { "\($0.identifier) \($0.state)" }) ?? [])")
        #expect(daemon.markedProcesses == before)
        await daemon.finish()
    }

    @Test("B05 a supervisor killed while it launches starts nothing twice", arguments: ControlGroups.kinds)
    func killsDuringLaunch(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind)
        var program = ProgramDescription(executable: Daemon.probe)
        program.environment = ["PATH=/usr/bin:/bin"]
        for number in 0..<Torture.repetitions(4, full: 100) {
            let name = "app\(number)"
            program.arguments = ["supervised", "--name", name]
            try daemon.perform(.install(identifier: name, program: program))
            let socket = try PacketSocket.connect(to: "\(daemon.directory.path(of: "run"))/control")
            _ = try socket.send(
                WireWriter.encode(ControlRequest.launch(identifier: name, url: nil, inBackground: false))
            )
            RandomMoment.pass(within: .milliseconds(5))
            try await daemon.replace()
            let found = daemon.markedProcesses
            #expect((found[name] ?? []).count <= 1)
            // A launch that the supervisor did not begin is requested again; one that it began is the only one.
            let isAccepted = await daemon.waitForStatuses { _ in
                (try? daemon.request(.launch(identifier: name, url: nil, inBackground: false))) == [.done]
            }
            #expect(isAccepted)
            await daemon.expectState(.active, of: name)
            // A process that the killed supervisor had just begun ends when it finds its socket closed.
            try await eventually("processes of \(name)", is: 1) { daemon.markedProcesses[name]?.count ?? 0 }
        }
        await daemon.finish()
    }
}
