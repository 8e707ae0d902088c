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
    @Test("B05 of the buses of an application only one on this machine is monitored, and no program is executed")
    func foreignAddresses() async throws {
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.limits)
        let (program, output) = (daemon.directory.path(of: "program"), daemon.directory.path(of: "output"))
        try daemon.directory.write(Array("#!/bin/sh\ntouch '\(output)'\n".utf8), to: "program")
        chmod(program, 0o700)
        let bus = try SilentBus()
        let addresses = "unixexec:path=\(program);tcp:host=localhost,port=1;unix:abstract=\(bus.name),guid=1"
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
}
