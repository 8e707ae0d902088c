import EideticCore
import EideticLifecycle
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import Testing

/// A socket in the place of a message bus, which says nothing.
final class SilentBus {
    private let descriptor: FileDescriptor
    /// Its name, without a file.
    let name = "eidetic-bus-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
    private var connections: [Int32] = []

    var variable: String { "DBUS_SESSION_BUS_ADDRESS=unix:abstract=\(name)" }

    init() throws {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        descriptor = FileDescriptor(adopting: socket(AF_UNIX, kind, 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.dropFirst().copyBytes(from: name.utf8) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor.rawValue, $0, length) }
        }
        guard result == 0, listen(descriptor.rawValue, 4) == 0 else { throw SystemError(.bind, errorNumber: errno) }
    }

    deinit { for connection in connections { close(connection) } }

    /// The number of connections that were made.
    var connectionCount: Int {
        while true {
            let connection = accept(descriptor.rawValue, nil, nil)
            guard connection >= 0 else { return connections.count }
            connections.append(connection)
        }
    }

    /// The number of connections that the other end has closed.
    var closedCount: Int {
        connections.count { connection in
            var bytes = [UInt8](repeating: 0, count: 4_096)
            var count = 1
            while count > 0 { count = recv(connection, &bytes, bytes.count, Int32(MSG_DONTWAIT)) }
            return count == 0
        }
    }
}

// Calls that ask an application to show itself.
extension CallerTests {
    private static let service = "org.freedesktop.Notifications"

    /// The words of a call to the notification server, which answers it.
    private func call(_ method: String) -> [String] {
        let options = ["--session", "--print-reply", "--reply-timeout=20000", "--dest=\(Self.service)"]
        return ["dbus-send"] + options + ["/org/example", "org.freedesktop.Application.\(method)"]
    }

    /// A program of the shell that begins a notification server on a bus, and then follows.
    private func shell(_ address: String, on daemon: Daemon, then rest: String) -> [String] {
        let fifo = daemon.directory.path(of: "commands")
        mkfifo(fifo, 0o600)
        let address = address.dropFirst("DBUS_SESSION_BUS_ADDRESS=".count)
        return ["/bin/sh", "-c", "'\(Daemon.probe)' wake notification-server '\(address)' '\(fifo)' & \(rest)"]
    }

    private func waitForService(on address: String) async throws {
        let wait = ["gdbus", "wait", "--session", "--timeout", "30", Self.service]
        let result = try await Subprocess.run("env", arguments: [address] + wait)
        #expect(result.status == .exited(0), "\(result.errorText)")
    }

    @Test("B05 of the buses of an application only one on this machine is monitored, and no program is executed")
    func foreignAddresses() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.limits)
        let (program, output) = (daemon.directory.path(of: "program"), daemon.directory.path(of: "output"))
        try daemon.directory.write(Array("#!/bin/sh\ntouch '\(output)'\n".utf8), to: "program")
        chmod(program, 0o700)
        let bus = try SilentBus()
        let name = bus.name.split(separator: "-").joined(separator: "%2d")
        let addresses = "unixexec:path=\(program);tcp:host=localhost,port=1;unix:abstract=\(name),guid=1"
        let variables = ["PATH=/usr/bin:/bin", "DBUS_SESSION_BUS_ADDRESS=\(addresses)"]
        try await suspend(["sleep", "1000"], environment: variables, on: daemon)
        try await eventually("a connection", limit: .seconds(20)) { bus.connectionCount > 0 }
        #expect(access(output, F_OK) != 0)
        await daemon.finish()
    }

    @Test("B05 nothing is sent to the bus of another user")
    func busOfAnotherUser() async throws {
        guard geteuid() == 0, isInstalled("setpriv") else { try Test.cancel("needs root and setpriv") }
        let name = "eidetic-bus-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        let script = """
            import socket
            server = socket.socket(socket.AF_UNIX)
            server.bind("\\0\(name)")
            server.listen()
            print("ready", flush=True)
            print(len(server.accept()[0].recv(9)), "bytes", flush=True)
            """
        let user = ["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", script]
        let server = try Subprocess("setpriv", arguments: user)
        try #require(await server.waitForOutput("ready\n"))
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.limits)
        let variables = ["PATH=/usr/bin:/bin", "DBUS_SESSION_BUS_ADDRESS=unix:abstract=\(name)"]
        try await suspend(["sleep", "1000"], environment: variables, on: daemon)
        _ = await server.waitUntilExit()
        #expect(server.outputSoFar == "ready\n0 bytes\n")
        await daemon.finish()
    }

    @Test("B05 no bus of an application is monitored with --bus none")
    func noBus() async throws {
        let bus = try SilentBus()
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.limits + ["--bus", "none"])
        try await suspend(["sleep", "1000"], environment: ["PATH=/usr/bin:/bin", bus.variable], on: daemon)
        // It connects before it waits for another request.
        _ = try daemon.list()
        #expect(bus.connectionCount == 0)
        await daemon.finish()
    }

    @Test("B05 the bus of an application is left when no application has it any more")
    func unusedBus() async throws {
        let bus = try SilentBus()
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.limits)
        try await suspend(["sleep", "1000"], environment: ["PATH=/usr/bin:/bin", bus.variable], on: daemon)
        try await eventually("connections", is: 2, limit: .seconds(20)) { bus.connectionCount }
        #expect(bus.closedCount == 0)
        try daemon.perform(.quit(identifier: "one", force: true))
        await daemon.expectState(.notRunning, of: "one")
        try await eventually("closed connections", is: 2, limit: .seconds(20)) { bus.closedCount }
        await daemon.finish()
    }

    @Test("B05 a bus that is not there yet when an application is suspended is monitored when it is")
    func lateBus() async throws {
        guard isInstalled("dbus-daemon", "dbus-send", "gdbus") else { return }
        let (bus, address) = try await startBus()
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.limits)
        let place = try #require(address.split(separator: "=", maxSplits: 2).last?.split(separator: ",").first)
        try #require(place.hasPrefix("/"))
        let late = daemon.directory.path(of: "late")
        let words = shell(address, on: daemon, then: "exec sleep 1000")
        let variables = ["PATH=/usr/bin:/bin", "DBUS_SESSION_BUS_ADDRESS=unix:path=\(late)"]
        try await suspend(words, environment: variables, on: daemon) { try await waitForService(on: address) }
        #expect(symlink(String(place), late) == 0)
        try await eventually("the application is shown", limit: .seconds(30)) {
            _ = try await Subprocess.run("env", arguments: [address] + call("Activate"))
            return try daemon.status(of: "one")?.state == .active
        }
        await daemon.finish()
        bus.kill()
        _ = await bus.waitUntilExit()
    }

    @Test("B05 an application in the background does not show itself by a call of its own")
    func ownCall() async throws {
        guard isInstalled("dbus-daemon", "dbus-send", "gdbus") else { return }
        let (bus, address) = try await startBus()
        let daemon = try await Daemon(ControlGroups.kinds[0], ["--limit", "connection=100", "--limit", "idle=60000"])
        let begin = daemon.directory.path(of: "begin")
        #expect(mkfifo(begin, 0o600) == 0)
        // It stays on the bus, so that the supervisor finds out who it is.
        let script = """
            import signal
            from gi.repository import Gio
            bus = Gio.bus_get_sync(Gio.BusType.SESSION)
            name = "org.freedesktop.Application"
            try:
                bus.call_sync("\(Self.service)", "/org/example", name, "Activate", None, None, 0, 20000)
            except Exception:
                pass
            print("called", flush=True)
            signal.pause()
            """
        let own = try daemon.directory.write(Array(script.utf8), to: "own.py")
        let words = shell(address, on: daemon, then: "read line < '\(begin)'; exec /usr/bin/python3 '\(own)'")
        var program = ProgramDescription(executable: words[0])
        program.arguments = Array(words.dropFirst())
        program.environment = ["PATH=/usr/bin:/bin", address]
        try daemon.perform(.install(identifier: "one", program: program))
        _ = try daemon.request(.launch(identifier: "one", url: nil, inBackground: true))
        await daemon.expectState(.background, of: "one")
        try await waitForService(on: address)
        // Monitored from then on.
        await daemon.expectLine(.log(identifier: "one", count: 20)) { $0.contains("does not connect") }
        try KernelFile.write("begin\n", to: begin)
        await daemon.expectOutput("called\n")
        let answer = try await Subprocess.run("env", arguments: [address] + call("Open"))
        #expect(!answer.outputText.contains("timed out"))
        await daemon.expectState(.active, of: "one")
        let lines = try daemon.lines(.log(identifier: "one", count: 20))
        #expect(lines.contains { $0.contains("Application.Open") }, "\(lines)")
        #expect(!lines.contains { $0.contains("Application.Activate") }, "\(lines)")
        await daemon.finish()
        bus.kill()
        _ = await bus.waitUntilExit()
    }

    @Test("B05 a call does not show an application that tells of its windows", arguments: ControlGroups.kinds)
    func callWithoutWindow(kind: FreezerKind) async throws {
        guard isInstalled("dbus-daemon", "dbus-send", "gdbus") else { return }
        let (bus, address) = try await startBus()
        let daemon = try await Daemon(kind, Self.limits)
        let words = shell(address, on: daemon, then: "exec '\(Daemon.probe)' supervised --name one")
        try await suspend(words, environment: ["PATH=/usr/bin:/bin", address], on: daemon) {
            await daemon.expectOutput("one didBecomeActive")
            try await waitForService(on: address)
        }
        _ = try await Subprocess.run("env", arguments: [address] + call("ActivateAction"))
        await daemon.expectLine(.log(identifier: "one", count: 20)) { $0.contains("Application.ActivateAction") }
        await daemon.expectState(.suspended, of: "one")
        #expect(daemon.output.ranges(of: "one didBecomeActive").count == 1)
        await daemon.finish()
        bus.kill()
        _ = await bus.waitUntilExit()
    }
}
