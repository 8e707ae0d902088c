import EideticCore
import EideticLifecycle
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import Testing

@Suite("Applications of other versions", .serialized, .timeLimit(.minutes(2)))
struct VersionTests {
    private func old(_ difference: Int) -> String {
        (difference < 0 ? "the application" : "the supervisor (package eidetic-background)") + " is too old"
    }

    @Test("B06 one that connects is told the version and closed, the log says which is too old", arguments: [-1, 1])
    func connecting(difference: Int) async throws {
        let daemon = try await Daemon(.signals)
        try await daemon.launchInForeground("one")
        let socket = try PacketSocket.connect(to: "\(daemon.directory.path(of: "run"))/supervisor")
        var hello = WireWriter.encode(ApplicationMessage.hello(Hello(identifier: "other")))
        hello[1] = UInt8(Int(SupervisionProtocol.version) + difference)
        // Behind the version is what only that version knows.
        #expect(try socket.send(hello + [9, 9, 9]))
        var polled = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
        #expect(poll(&polled, 1, 60_000) == 1)
        guard case .packet(let packet) = try socket.receive(),
            case .welcome(let welcome) = try WireReader.decode(SupervisorMessage.self, from: packet.bytes)
        else { throw SystemError(.receive, errorNumber: EPROTO) }
        #expect(welcome.version == SupervisionProtocol.version)
        #expect(poll(&polled, 1, 60_000) == 1)
        guard case .end = try socket.receive() else { throw SystemError(.receive, errorNumber: EPROTO) }
        let log = try daemon.lines(.log(identifier: nil, count: 50))
        #expect(log.contains { $0.contains(old(difference)) }, "\(log)")
        #expect(try daemon.list().map(\.identifier) == ["one"])
        #expect(try daemon.status(of: "one")?.state == .active)
        await daemon.finish()
    }

    @Test("B06 one that was launched is told the same, and goes on", arguments: [-1, 1])
    func launched(difference: Int) async throws {
        let daemon = try await Daemon(.signals)
        var program = ProgramDescription(executable: "/usr/bin/python3")
        let version = Int(SupervisionProtocol.version) + difference
        let script = """
            import os, signal, socket
            supervisor = socket.socket(fileno=int(os.environ["EIDETIC_SUPERVISOR"]))
            supervisor.setblocking(True)
            supervisor.send(bytes([1, \(version), 0, 9, 9]))
            print("told", supervisor.recv(4096)[:3], flush=True)
            signal.pause()
            """
        program.arguments = ["-c", script]
        program.environment = ["PATH=/usr/bin:/bin"]
        try daemon.perform(.install(identifier: "other", program: program))
        try daemon.perform(.launch(identifier: "other", url: nil, inBackground: false))
        await daemon.expectOutput("told b'\\x01\\x0\(SupervisionProtocol.version)\\x00'")
        let log = try await eventually("the reason is in the log") {
            try daemon.lines(.log(identifier: "other", count: 50))
        } until: {
            $0.contains { $0.contains(old(difference)) }
        }
        #expect(!log.isEmpty)
        #expect(try daemon.status(of: "other")?.process != nil)
        await daemon.finish()
    }
}
