import EideticCore
import EideticFetch
import EideticTestSupport
import EideticTransfer
import EideticTransferEngine
import Glibc
import Testing

@Suite("socket activation", .timeLimit(.minutes(1)))
struct SocketActivationTests {
    /// A transfer process that was started as systemd starts it: the sockets are the descriptors from 3 on.
    private struct ActivatedProcess {
        let listener: PacketSocket
        /// A connection that was made before the start, and waits.
        var connection: PacketSocket?
        let identifier: pid_t

        /// Starts the program; with `isForOther`, the variables belong to another process.
        init(in directory: TemporaryDirectory, idleExit: Int, isForOther: Bool = false) throws {
            listener = try PacketSocket.listen(at: directory.path(of: "socket"))
            connection = try PacketSocket.connect(to: directory.path(of: "socket"))
            let program = ServiceProcess.path(of: "eidetic-transferd")
            // The number of the process is known to itself alone.
            let script =
                "export LISTEN_FDS=1 LISTEN_PID=\(isForOther ? "1" : "$$"); exec \"$0\" \"$@\" 2>/dev/null"
            let words = [
                "/bin/sh", "-c", script, program, "--directory", directory.path(of: "transfers"), "--idle-exit",
                "\(idleExit)",
            ]
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_adddup2(&actions, listener.rawValue, 3)
            var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
            defer { pointers.forEach { free($0) } }
            var number = pid_t()
            let error = posix_spawn(&number, "/bin/sh", &actions, nil, &pointers, environ)
            guard error == 0 else { throw SystemError(.spawn, errorNumber: error, path: program) }
            identifier = number
        }

        /// Waits for the end of the process, and returns its exit status.
        func waitUntilExit() async -> Int32 {
            let identifier = identifier
            return await withCheckedContinuation { continuation in
                Thread.start(name: "wait") {
                    var status: Int32 = 0
                    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
                    continuation.resume(returning: status)
                }
            }
        }
    }

    /// Opens a session on the connection that started the process.
    private func openSession(on process: inout ActivatedProcess) async throws -> TransferClient {
        let socket = try #require(process.connection)
        process.connection = nil
        let client = try TransferClient(socket: socket, application: "org.example.Test") {}
        try await client.openSession(TransferSessionConfiguration(identifier: "s"))
        return client
    }

    @Test("B14 with a socket of systemd the transfer process serves, and ends when it has nothing to do")
    func serves() async throws {
        let origin = try ScriptedOrigin { _ in [.response(body: [1, 2])] }
        let directory = try TemporaryDirectory(named: "activated")
        var process = try ActivatedProcess(in: directory, idleExit: 0)
        do {
            let client = try await openSession(on: &process)
            let log = EventLog()
            let observation = try await client.observe("s") { log.record($0) }
            _ = try await client.add([TransferRequest(download: origin.url + "/a")], to: "s")
            let event = await log.waitForEvents(1)[0]
            guard case .finished(let response) = event.outcome else { throw UnexpectedOutcome(event: event) }
            #expect(try FileSystem().contents(of: response.path) == [1, 2])
            withExtendedLifetime(observation) {}
            client.close()
        }
        #expect(await process.waitUntilExit() == 0)
    }

    @Test("B14 the transfer process ends after its last transfer although no application is connected")
    func endsAfterTransfers() async throws {
        let gate = Gate(), reached = Gate()
        let origin = try ScriptedOrigin { _ in [.open(reached), .wait(gate), .response(body: [1, 2])] }
        let directory = try TemporaryDirectory(named: "activated")
        var process = try ActivatedProcess(in: directory, idleExit: 0)
        do {
            let client = try await openSession(on: &process)
            _ = try await client.add([TransferRequest(download: origin.url + "/a")], to: "s")
            await reached.wait()
            client.close()
        }
        gate.open()
        #expect(await process.waitUntilExit() == 0)
        let fixture = try await ServiceFixture(directory: directory)
        let event = await fixture.log.waitForEvents(1)[0]
        #expect(try fixture.finished(event).bytes == [1, 2])
        await fixture.close()
    }

    /// The directory of the units.
    private static let units =
        #filePath.split(separator: "/").dropLast(4).reduce("") { "\($0)/\($1)" } + "/Resources/systemd/user"

    @Test(
        "B14 the units of the transfer process are valid, and name the places where clients look for it",
        .enabled(if: Subprocess.executablePath(for: "systemd-analyze") != nil, "systemd is not installed")
    )
    func units() async throws {
        let directory = try TemporaryDirectory(named: "units")
        for kind in ["socket", "service"] {
            let name = "eidetic-transferd.\(kind)"
            let text = String(decoding: try FileSystem().contents(of: "\(Self.units)/\(name)"), as: UTF8.self)
            // The program is not installed here.
            let installed = text.replacing("/usr/libexec/eidetic-transferd", with: "/bin/true")
            #expect(kind == "socket" ? text.contains("=%t/eidetic/transfer.socket\n") : installed != text)
            try directory.write(Array(installed.utf8), to: name)
        }
        let result = try await Subprocess.run(
            "systemd-analyze",
            arguments: ["verify", "--user", directory.path(of: "eidetic-transferd.socket")],
            environment: ["XDG_RUNTIME_DIR": directory.path]
        )
        #expect(result.status == .exited(0) && result.errorText.isEmpty, "\(result.errorText)")
    }

    @Test("B14 sockets that were passed to another process are not used")
    func ignoresForeignVariables() async throws {
        let process = try ActivatedProcess(in: try TemporaryDirectory(), idleExit: 0, isForOther: true)
        // The status of an invalid command line.
        #expect(await process.waitUntilExit() == 2 << 8)
    }

    @Test(
        "B14 the number of passed sockets is from 1 to 16",
        arguments: [(0, false), (1, true), (16, true), (17, false)]
    )
    func socketCounts(count: Int, isAccepted: Bool) {
        let variables = ["LISTEN_FDS": "\(count)", "LISTEN_PID": "7"]
        var options = ServiceOptions()
        options.addPassedListeners(environment: { variables[$0] }, process: 7)
        #expect(options.listeners == (isAccepted ? Array(3..<3 + Int32(count)) : []))
    }

    /// libcurl would wait for the writer, and all transfers for libcurl.
    @Test("B14 a FIFO as the file of certificates is refused at the start")
    func fifoOfCertificates() throws {
        let directory = try TemporaryDirectory()
        var options = ServiceOptions()
        options.directory = directory.path
        options.listeners = [3]
        try options.check()
        options.connections.certificateAuthorityFile = directory.path(of: "fifo.pem")
        #expect(mkfifo(directory.path(of: "fifo.pem"), 0o600) == 0)
        #expect(throws: EideticError.self) { try options.check() }
    }

    @Test(
        "B14 the time before an idle exit is from 0 to 86,400 s, or never",
        arguments: [("-1", false), ("0", true), ("86400", true), ("86401", false), ("never", true), ("x", false)]
    )
    func idleLimits(text: String, isAccepted: Bool) async throws {
        let words = ["--directory", "/d", "--idle-exit", text]
        let result = try await Subprocess.run(ServiceProcess.path(of: "eidetic-transferd"), arguments: words)
        #expect(result.status == .exited(2))
        #expect(result.errorText.contains("no socket was passed") == isAccepted, "\(result.errorText)")
        #expect(result.errorText.contains("expected a number of seconds from 0 to 86400, or never") != isAccepted)
    }
}
