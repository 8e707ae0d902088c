import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

/// A supervisor with a message bus of its own, and applications that are woken.
final class WakeHarness {
    let daemon: Daemon
    private let directory: TemporaryDirectory
    private let bus: Subprocess?
    private var services: [Subprocess] = []
    /// The FIFOs of commands, open until the end: what nobody has read when the last descriptor is closed is lost.
    private var commandFiles: [String: CommandFile] = [:]
    let address: String

    static let fast = ["--limit", "idle=20"]

    /// Starts the supervisor, after the words of another program if it is to start it.
    init(
        _ kind: FreezerKind,
        _ arguments: [String] = fast,
        withBus: Bool = false,
        launcher: [String] = []
    ) async throws {
        directory = try TemporaryDirectory(named: "wakes")
        address = withBus ? "unix:path=\(directory.path(of: "bus"))" : "none"
        bus = withBus ? try await Self.startBus(in: directory) : nil
        daemon = try await Daemon(kind, arguments + ["--bus", address, "--system-bus", address], launcher: launcher)
    }

    private static func startBus(in directory: TemporaryDirectory) async throws -> Subprocess {
        let configuration = """
            <busconfig><type>session</type><listen>unix:path=\(directory.path(of: "bus"))</listen>
            <auth>EXTERNAL</auth><policy context="default"><allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
            """
        let path = directory.path(of: "bus.conf")
        try FileSystem().write(configuration, to: path)
        let bus = try Subprocess("dbus-daemon", arguments: ["--config-file=\(path)", "--nofork", "--print-address"])
        #expect(await bus.waitForOutput("unix:path="))
        return bus
    }

    /// Starts a service of the desktop, and waits until it has its name.
    @discardableResult
    func start(_ service: String) async throws -> Subprocess {
        let path = fifo(service)
        let program = try Subprocess(
            Daemon.probe,
            arguments: ["wake", service, address, path]
        )
        #expect(await program.waitForOutput("owns "), "\(program.errorsSoFar)")
        services.append(program)
        return program
    }

    // MARK: Applications

    func install(_ name: String, _ options: [String] = []) throws {
        var program = ProgramDescription(executable: Daemon.probe)
        program.arguments = ["wake", name, "--commands", fifo(name)] + options
        program.environment = ["PATH=/usr/bin:/bin"]
        try daemon.perform(.install(identifier: name, program: program))
    }

    func launch(_ name: String, _ options: [String] = []) async throws {
        try install(name, options)
        try daemon.perform(.launch(identifier: name, url: nil, inBackground: false))
        await daemon.expectState(.active, of: name)
    }

    /// The FIFO with the commands of a program.
    func fifo(_ name: String) -> String {
        let path = directory.path(of: "commands-\(name)")
        mkfifo(path, 0o600)
        return path
    }

    /// Sends a command, and waits until an application has performed it.
    func send(_ command: String, to name: String, isAnswered: Bool = true) async throws {
        let file = try commandFiles[name] ?? CommandFile(at: fifo(name))
        commandFiles[name] = file
        file.write("\(command)\n")
        if isAnswered { await daemon.expectOutput("\(name) done \(command)\n") }
    }

    /// The state of an application before a wake.
    enum State: CaseIterable, Sendable { case active, background, suspended, dead, forceQuit }

    func bring(_ name: String, to state: State) async throws {
        switch state {
        case .active: break
        case .background:
            try await send("task", to: name)
            try daemon.perform(.background(identifier: name))
            await daemon.expectState(.background, of: name)
        case .suspended:
            try await daemon.suspend(name)
        case .dead:
            try daemon.perform(.quit(identifier: name, force: false))
            await daemon.expectState(.notRunning, of: name)
        case .forceQuit:
            try daemon.perform(.quit(identifier: name, force: true))
            await daemon.expectState(.notRunning, of: name)
        }
    }

    func why(_ name: String) throws -> [String] { try daemon.lines(.explain(identifier: name)) }

    func log(_ name: String) throws -> [String] { try daemon.lines(.log(identifier: name, count: 200)) }

    func finish() async {
        await daemon.finish()
        for service in services { service.kill() }
        bus?.kill()
    }
}

/// A FIFO that is open for reading and writing.
private final class CommandFile {
    private let descriptor: Int32

    init(at path: String) throws(SystemError) {
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError(.open, errorNumber: errno, path: path) }
    }

    deinit { close(descriptor) }

    func write(_ line: String) { #expect(Glibc.write(descriptor, line, line.utf8.count) == line.utf8.count) }
}

extension FileSystem {
    fileprivate func write(_ text: String, to path: String) throws {
        try replaceContents(of: path, with: Array(text.utf8), mode: 0o600)
    }
}
