import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Attacks on the supervisor", .serialized, .timeLimit(.minutes(30)))
struct AttackTests {
    private func socketPath(_ daemon: Daemon, _ name: String) -> String {
        "\(daemon.directory.path(of: "run"))/\(name)"
    }

    @Test("B06 the directory belongs to the user alone, and so do the sockets")
    func modes() async throws {
        let daemon = try await Daemon(.group)
        var status = stat()
        #expect(stat(daemon.directory.path(of: "run"), &status) == 0 && status.st_mode & 0o777 == 0o700)
        for name in ["control", "supervisor"] {
            #expect(stat(socketPath(daemon, name), &status) == 0 && status.st_mode & 0o777 == 0o600)
        }
        await daemon.finish()
    }

    @Test("B06 mutated messages of any length close their connection, and change nothing for others")
    func mutatedMessages() async throws {
        let daemon = try await Daemon(.group, ["--message-rate", "100000"])
        try await daemon.launchInForeground("one")
        var random = SystemRandomNumberGenerator()
        let samples = [
            WireWriter.encode(ApplicationMessage.hello(Hello(identifier: "evil"))),
            WireWriter.encode(ApplicationMessage.taskNames(["a", "b"], request: 1)),
            WireWriter.encode(ApplicationMessage.acknowledged(sequence: 1)),
            WireWriter.encode(ControlRequest.list), WireWriter.encode(ControlRequest.log(identifier: "one", count: 5)),
            WireWriter.encode(ControlRequest.quit(identifier: "other", force: true)),
        ]
        var connections: [String: PacketSocket] = [:]
        for _ in 0..<Torture.repetitions(20_000, full: 1_000_000) {
            let name = Bool.random(using: &random) ? "control" : "supervisor"
            var bytes = samples.randomElement(using: &random) ?? []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) {
                bytes = Array(bytes.prefix(Int.random(in: 1...bytes.count, using: &random)))
            }
            // This process must not become an application.
            if case .hello? = try? WireReader.decode(ApplicationMessage.self, from: bytes) { continue }
            let socket = try connections[name] ?? PacketSocket.connect(to: socketPath(daemon, name))
            connections[name] = socket
            if (try? socket.send(bytes)) != true { connections[name] = nil }
            while let reception = try? socket.receive() {
                if case .packet = reception { continue }
                if case .end = reception { connections[name] = nil }
                break
            }
        }
        connections = [:]
        #expect(try daemon.status(of: "one")?.state == .active)
        try await daemon.suspend("one")
        await daemon.finish()
    }

    @Test("B06 an application that floods is slowed down, and another one is served meanwhile")
    func flood() async throws {
        let daemon = try await Daemon(.group, ["--limit", "idle=10"])
        // At the rate of an application, these messages take several minutes.
        try daemon.launch("flood", ["--flood", "10000"])
        await daemon.expectOutput("flood welcome")
        try daemon.launch("one")
        for _ in 0..<10 {
            await daemon.expectState(.active, of: "one")
            try await daemon.suspend("one")
            try daemon.perform(.foreground(identifier: "one"))
        }
        // It handles its first callback after its last message.
        #expect(!daemon.output.contains("flood launch"))
        await daemon.finish()
    }

    @Test("B06 an application that destroys its page counts as busy, and is killed when its time is over")
    func destroyedPage() async throws {
        let daemon = try await Daemon(
            .group,
            ["--limit", "idle=10", "--limit", "budget=200", "--limit", "expiration=100"]
        )
        try await daemon.launchInForeground("bad", ["--destroy-page"])
        try daemon.perform(.background(identifier: "bad"))
        await daemon.expectState(.notRunning, of: "bad")
        let exit = try daemon.status(of: "bad")?.lastExit ?? ""
        #expect(exit.contains("0x2182bad2"), "\(exit)")
        await daemon.finish()
    }

    @Test("B06 a stranger cannot take the place of a running application")
    func impersonation() async throws {
        let daemon = try await Daemon(.group)
        try await daemon.launchInForeground("one")
        let process = try daemon.status(of: "one")?.process
        let stranger = try await Subprocess.run(
            Daemon.probe,
            arguments: ["supervised", "--name", "stranger", "--identifier", "one"],
            environment: ["EIDETIC_RUNTIME_DIR": daemon.directory.path(of: "run")]
        )
        #expect(stranger.status == .exited(7) && stranger.outputText == "stranger refused alreadyRunning\n")
        #expect(try daemon.status(of: "one")?.process == process)
        await daemon.finish()
    }

    @Test("B06 a program that is not that of the identifier gets another one, and is supervised", arguments: kinds)
    func foreignProgram(kind: FreezerKind) async throws {
        let daemon = try await Daemon(kind, ["--limit", "idle=10"])
        try daemon.perform(.install(identifier: "one", program: ProgramDescription(executable: "/bin/sh")))
        let stranger = try Subprocess(
            Daemon.probe,
            arguments: ["supervised", "--name", "stranger", "--identifier", "one"],
            environment: ["EIDETIC_RUNTIME_DIR": daemon.directory.path(of: "run")]
        )
        let name = "adhoc.eidetic-probe"
        await daemon.expectState(.active, of: name)
        try await daemon.suspend(name)
        #expect(try daemon.status(of: name)?.freezer == (kind == .group ? .controlGroup : .signal))
        try await daemon.resume(name)
        stranger.kill()
        _ = await stranger.waitUntilExit()
        await daemon.expectState(.notRunning, of: name)
        await daemon.finish()
    }

    @Test("B06 another user is refused", .enabled(if: geteuid() == 0, "changing the user needs root"))
    func otherUser() async throws {
        let daemon = try await Daemon(.group)
        // Even if the directory were open to all.
        chmod(daemon.directory.path, 0o755)
        chmod(daemon.directory.path(of: "run"), 0o755)
        chmod(socketPath(daemon, "control"), 0o666)
        let script = """
            import os, socket, sys
            os.setgid(65534); os.setuid(65534)
            s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            s.settimeout(10)
            s.connect(sys.argv[1])
            try:
                s.send(b"\\x01")
                print("answer", len(s.recv(65536)))
            except OSError as error:
                print("answer 0")
            """
        let result = try await Subprocess.run(
            "/usr/bin/env",
            arguments: ["python3", "-c", script, socketPath(daemon, "control")]
        )
        #expect(result.outputText == "answer 0\n", "\(result.errorText)")
        #expect(try daemon.lines(.log(identifier: "eideticd", count: 10)).contains { $0.contains("user 65534") })
        await daemon.finish()
    }
}
