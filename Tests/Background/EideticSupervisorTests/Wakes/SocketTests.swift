import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Sockets that are left with the supervisor", .serialized, .timeLimit(.minutes(2)))
struct SocketTests {
    @Test(
        "B10 data on a socket wakes a suspended application, and launches one that has ended, with the data",
        arguments: ControlGroups.kinds
    )
    func data(kind: FreezerKind) async throws {
        let harness = try await WakeHarness(kind)
        let directory = try TemporaryDirectory(named: "voip")
        let listener = try StreamListener(at: directory.path(of: "socket"))
        try await harness.launch("one")
        try await harness.send("connect \(listener.path) call", to: "one")
        let peer = try listener.accept()
        for (number, state) in [WakeHarness.State.suspended, .dead].enumerated() {
            try await harness.bring("one", to: state)
            #expect(write(peer.rawValue, "ring\(number)", 5) == 5)
            await harness.daemon.expectOutput("one voip call ring\(number) read ring\(number)\n")
            await harness.daemon.expectState(.suspended, of: "one")
        }
        #expect(harness.daemon.output.ranges(of: "one voip").count == 2)
        #expect(try harness.why("one").contains("woken for data on the socket call"))
        await harness.finish()
    }

    @Test("B10 data that equals earlier data, which the application has read, wakes it without a pause")
    func equalData() async throws {
        let harness = try await WakeHarness(ControlGroups.kinds[0], WakeHarness.fast + ["--limit", "unread=60000"])
        let directory = try TemporaryDirectory(named: "voip")
        let listener = try StreamListener(at: directory.path(of: "socket"))
        try await harness.launch("one")
        try await harness.send("connect \(listener.path) call", to: "one")
        let peer = try listener.accept()
        try await harness.bring("one", to: .suspended)
        for number in 1...3 {
            #expect(write(peer.rawValue, "ring", 4) == 4)
            await harness.daemon.expectOutput("one voip call ring read ring\n", times: number)
            await harness.daemon.expectState(.suspended, of: "one")
        }
        await harness.finish()
    }

    @Test("B10 an application that ends each time it is woken for data is woken five times, and then left alone")
    func givenUp() async throws {
        let harness = try await WakeHarness(ControlGroups.kinds[0], WakeHarness.fast + ["--limit", "unread=5"])
        let directory = try TemporaryDirectory(named: "voip")
        let listener = try StreamListener(at: directory.path(of: "socket"))
        try await harness.launch("one", ["--ends-in-wakes"])
        try await harness.send("connect \(listener.path) call", to: "one")
        let peer = try listener.accept()
        try await harness.bring("one", to: .suspended)
        #expect(write(peer.rawValue, "ring", 4) == 4)
        await harness.daemon.expectOutput("one ends for call\n", times: 5)
        await harness.daemon.expectState(.notRunning, of: "one")
        #expect(try harness.why("one").contains { $0.contains("ended during 5 voip wakes") })
        // The data waits, and nobody looks at it.
        #expect(try !harness.log("one").contains { $0.contains("refused") })
        #expect(harness.daemon.output.ranges(of: "one ends for call\n").count == 5)
        #expect(try harness.why("one").contains("not woken for data on the socket call"))
        await harness.finish()
    }

    @Test("B10 an application that does not read the data, or cannot be started, is woken again after a pause only")
    func unread() async throws {
        for isRemoved in [false, true] {
            let harness = try await WakeHarness(ControlGroups.kinds[0], WakeHarness.fast + ["--limit", "unread=60000"])
            let directory = try TemporaryDirectory(named: "voip")
            let listener = try StreamListener(at: directory.path(of: "socket"))
            try await harness.launch("one", ["--reads-nothing"])
            try await harness.send("connect \(listener.path) call", to: "one")
            let peer = try listener.accept()
            try await harness.bring("one", to: .dead)
            if isRemoved {
                let missing = ProgramDescription(executable: directory.path(of: "missing"))
                try harness.daemon.perform(.install(identifier: "one", program: missing))
            }
            #expect(write(peer.rawValue, "ring", 4) == 4)
            await harness.daemon.waitForStatuses { _ in
                (try? harness.log("one"))?.contains { $0.contains("was not read") } ?? false
            }
            #expect(try harness.log("one").count { $0.contains("voip wake") && $0.contains("begins") } == 1)
            await harness.finish()
        }
    }
}

/// A listening socket of a server.
struct StreamListener: ~Copyable {
    let path: String
    private let descriptor: FileDescriptor

    init(at path: String) throws {
        self.path = path
        descriptor = FileDescriptor(
            adopting: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        )
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor.rawValue, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0, listen(descriptor.rawValue, 1) == 0 else {
            throw SystemError(.open, errorNumber: errno, path: path)
        }
    }

    func accept() throws -> FileDescriptor { FileDescriptor(adopting: Glibc.accept(descriptor.rawValue, nil, nil)) }
}

extension WakeHarness {
    /// Opens a URL as the desktop does, by the default application of its scheme.
    func openFromDesktop(_ url: String, entries: DesktopEntries) async throws {
        var environment = entries.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = address
        let result = try await Subprocess.run("gio", arguments: ["open", url], environment: environment)
        #expect(result.status == .exited(0), "\(result.errorText)")
    }

    /// Calls a method of an application's object, as another program does.
    func callApplication(_ member: String, signature: String, values: [String]) async throws {
        let words =
            [
                "--address=\(address)", "--timeout=5", "call", "org.example.one", "/org/example/one",
                "org.freedesktop.Application", member, signature,
            ] + values
        let result = try await Subprocess.run("busctl", arguments: words)
        #expect(result.status == .exited(0), "\(result.errorText)")
    }
}
