import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Launches that take long", .serialized, .timeLimit(.minutes(3)))
struct LaunchTests {
    /// Sends a launch without waiting for the answer.
    private func sendLaunch(of identifier: String, to daemon: Daemon) throws -> PacketSocket {
        let socket = try PacketSocket.connect(to: "\(daemon.directory.path(of: "run"))/control")
        let request = ControlRequest.launch(identifier: identifier, url: nil, inBackground: false)
        _ = try socket.send(WireWriter.encode(request))
        return socket
    }

    private func answer(on socket: PacketSocket) throws -> ControlAnswer.Content? {
        var polled = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
        guard poll(&polled, 1, 60_000) == 1, case .packet(let packet) = try socket.receive() else { return nil }
        return try WireReader.decode(ControlAnswer.self, from: packet.bytes).content
    }

    @Test("B01 while a program cannot start, others are served, and its launch is answered when it has started")
    func stoppedBirth() async throws {
        guard ControlGroups.unavailability == nil else { return }
        let daemon = try await Daemon(.group, ["--limit", "launch-answer=60000"])
        try daemon.install("one")
        try await daemon.launchInForeground("other")
        let group = try #require(daemon.controlGroup)
        // Whatever is born in the group stops before it executes anything.
        try KernelFile.write("1", to: "\(group)/cgroup.freeze")
        let socket = try sendLaunch(of: "one", to: daemon)
        #expect(try daemon.status(of: "one")?.state == .launching)
        #expect(try daemon.lines(.explain(identifier: "one")).contains { $0.contains("has not started its program") })
        try KernelFile.write("0", to: "\(group)/cgroup.freeze")
        #expect(try answer(on: socket) == .done)
        await daemon.expectState(.active, of: "one")
        await daemon.finish()
    }

    @Test("B05 a program that does not start in time is killed, and the launch refused with the reason")
    func stoppedBirthInTime() async throws {
        guard ControlGroups.unavailability == nil else { return }
        let daemon = try await Daemon(.group, ["--limit", "launch=200", "--limit", "launch-answer=60000"])
        try daemon.install("one")
        let group = try #require(daemon.controlGroup)
        try KernelFile.write("1", to: "\(group)/cgroup.freeze")
        let socket = try sendLaunch(of: "one", to: daemon)
        guard case .refused(.failed, let message)? = try answer(on: socket) else {
            throw SystemError(.receive, errorNumber: ENODATA, path: "no refusal")
        }
        #expect(message.contains("0x8badf00d"), "\(message)")
        await daemon.expectState(.notRunning, of: "one")
        try KernelFile.write("0", to: "\(group)/cgroup.freeze")
        await daemon.finish()
    }

    @Test("B16 a process that somebody kills before its program has started is no crash of the application")
    func killedBirth() async throws {
        guard ControlGroups.unavailability == nil else { return }
        let daemon = try await Daemon(.group, ["--limit", "launch-answer=60000"])
        try daemon.install("one")
        try daemon.directory.write([1], to: "state/one/state")
        let group = try #require(daemon.controlGroup)
        try KernelFile.write("1", to: "\(group)/cgroup.freeze")
        let socket = try sendLaunch(of: "one", to: daemon)
        await daemon.expectState(.launching, of: "one")
        kill(try #require(try daemon.status(of: "one")?.process), SIGKILL)
        guard case .refused(.failed, let message)? = try answer(on: socket) else {
            throw SystemError(.receive, errorNumber: ENODATA, path: "no refusal")
        }
        #expect(message.contains("killed before it had started its program"), "\(message)")
        await daemon.expectState(.notRunning, of: "one")
        try KernelFile.write("0", to: "\(group)/cgroup.freeze")
        #expect(access(daemon.directory.path(of: "state/one/state"), F_OK) == 0)
        #expect(try daemon.lines(.explain(identifier: "one")).allSatisfy { !$0.contains("crashed") })
        #expect(try daemon.status(of: "one")?.lastExit == nil)
        await daemon.finish()
    }

    @Test("B01 a launch that takes long is answered, and goes on")
    func slowBirth() async throws {
        guard ControlGroups.unavailability == nil else { return }
        let daemon = try await Daemon(.group, ["--limit", "launch-answer=200"])
        try daemon.install("one")
        let group = try #require(daemon.controlGroup)
        try KernelFile.write("1", to: "\(group)/cgroup.freeze")
        guard case .refused(.failed, let message)? = try answer(on: try sendLaunch(of: "one", to: daemon)) else {
            throw SystemError(.receive, errorNumber: ENODATA, path: "no refusal")
        }
        #expect(message.contains("has not started its program"))
        try KernelFile.write("0", to: "\(group)/cgroup.freeze")
        await daemon.expectState(.active, of: "one")
        await daemon.finish()
    }

    @Test("B01 a program on a file system that hangs stops nobody else", arguments: ["program", "directory"])
    func hangingFileSystem(place: String) async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], ["--limit", "launch=2000"])
        guard let hang = HangingFileSystem(at: daemon.directory.path(of: "hang")) else { return await daemon.finish() }
        var program = ProgramDescription(executable: place == "program" ? "\(hang.path)/a" : "/bin/true")
        if place == "directory" { program.directory = "\(hang.path)/b" }
        try daemon.perform(.install(identifier: "one", program: program))
        let socket = try sendLaunch(of: "one", to: daemon)
        try await daemon.launchInForeground("other")
        guard case .refused(.failed, _)? = try answer(on: socket) else {
            throw SystemError(.receive, errorNumber: ENODATA, path: "no refusal")
        }
        await daemon.expectState(.notRunning, of: "one")
        await daemon.finish()
    }
}

/// A FUSE file system that never answers, until the end of the object.
final class HangingFileSystem {
    let path: String
    private let device: Int32

    /// Mounts the file system; `nil` if that is impossible here, which is printed.
    init?(at path: String) {
        self.path = path
        mkdir(path, 0o700)
        device = open("/dev/fuse", O_RDWR | O_CLOEXEC)
        let options = "fd=\(device),rootmode=40000,user_id=0,group_id=0"
        guard device >= 0, mount("eidetic", path, "fuse", 0, options) == 0 else {
            print("skipped: no FUSE file system can be mounted here: \(SystemError.message(for: errno))")
            return nil
        }
    }

    deinit {
        close(device)
        umount2(path, Int32(MNT_DETACH))
    }
}
