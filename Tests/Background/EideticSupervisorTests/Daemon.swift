import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

/// An `eideticd` in a directory and a control group of its own, and its client.
final class Daemon {
    let directory: TemporaryDirectory
    let freezer: FreezerKind
    private(set) var process: Subprocess
    /// The earlier supervisors, whose applications still write to their outputs.
    private var earlier: [Subprocess] = []
    let arguments: [String]
    private let group: String?
    /// Signalled when a supervisor, or an application that has inherited its output, writes something.
    private let outputEvent: OutputEvent
    /// The group that limits the memory of the supervisor and its applications.
    private let memoryGroup: LimitedGroup?

    /// The path of an executable beside this test bundle.
    static func executable(_ name: String) -> String { BuiltProgram.path(of: name) }

    /// The program of applications for tests, whose first argument names one.
    static let probe = executable("eidetic-probe")

    init(
        _ freezer: FreezerKind,
        _ arguments: [String] = [],
        memoryGroup: LimitedGroup? = nil,
        launcher: [String] = [],
        environment: [String: String?] = [:]
    ) async throws {
        (self.freezer, self.memoryGroup) = (freezer, memoryGroup)
        directory = try TemporaryDirectory(named: "eideticd")
        outputEvent = try OutputEvent()
        group =
            freezer == .group ? "\(try ControlGroups.parent().path)/daemon-\(UInt32.random(in: 0...UInt32.max))" : nil
        // However busy the machine is, a probe connects in time; other programs are not waited for.
        let patience = ["--limit", "connection=60000", "--limit", "launch-answer=2000"]
        self.arguments =
            patience + arguments + (group.map { ["--control-group", $0] } ?? []) + [
                "--freezer", freezer.rawValue, "--runtime-directory", directory.path(of: "run"),
                "--state-directory", directory.path(of: "state"),
            ]
        let words = launcher + (memoryGroup?.launcher ?? []) + [Self.executable("eideticd")] + self.arguments
        process = try Subprocess(
            words[0],
            arguments: Array(words.dropFirst()),
            environment: environment,
            didChange: outputEvent.signal
        )
        try await waitUntilReady()
        print("freezer: \(freezer.rawValue)")
    }

    private func waitUntilReady() async throws {
        guard await process.waitForOutput("ready, freezer \(freezer.rawValue)") else {
            throw SystemError(.open, errorNumber: ENOENT, path: "eideticd: \(process.errorsSoFar)")
        }
    }

    /// Kills the supervisor and starts another one.
    func replace() async throws {
        await kill()
        try await start()
    }

    /// Kills the supervisor; its output stays open, as the applications have it too.
    func kill() async {
        process.kill()
        await waitUntilEnded()
    }

    func waitUntilEnded() async { await ProcessHandle(identifier: process.identifier)?.waitForEnd() }

    /// The output of all supervisors and their applications.
    var output: String { (earlier + [process]).map(\.outputSoFar).joined() }

    /// Starts another supervisor after the end of the last one, with further options.
    ///
    /// Only the number of a process that ends by itself is waited for: its applications keep its output open.
    func start(
        _ further: [String] = [],
        afterEnd: Bool = false,
        launcher: [String] = [],
        withoutCapabilities capabilities: [String] = []
    ) async throws {
        if afterEnd { await waitUntilEnded() }
        earlier.append(process)
        var words = launcher + [Self.executable("eideticd")] + arguments + further
        if !capabilities.isEmpty {
            words = ["setpriv", "--bounding-set", capabilities.map { "-\($0)" }.joined(separator: ",")] + words
        }
        process = try Subprocess(words[0], arguments: Array(words.dropFirst()), didChange: outputEvent.signal)
        try await waitUntilReady()
    }

    /// Ends the supervisor with everything that it has started.
    func finish() async {
        if let statuses = try? list() {
            for status in statuses where status.process != nil {
                _ = try? request(.quit(identifier: status.identifier, force: true))
            }
            _ = await waitForStatuses { $0.allSatisfy { $0.process == nil } }
        }
        process.kill(SIGTERM)
        // Nothing outlives its test, whatever became of the supervisor.
        if let group { try? KernelFile.write("1", to: "\(group)/cgroup.kill") }
        _ = await process.waitUntilExit()
        guard let group else { return }
        for name in KernelFile.names(in: group) { rmdir("\(group)/\(name)") }
        rmdir(group)
    }

    // MARK: Requests

    /// Sends a request and returns the answer's contents.
    func request(_ request: ControlRequest, on connection: PacketSocket? = nil) throws -> [ControlAnswer.Content] {
        let socket = try connection ?? PacketSocket.connect(to: controlSocket)
        // A change that is reported before is not the answer.
        return try socket.answer(to: request) { connection == nil || $0 != .done }
    }

    var controlSocket: String { "\(directory.path(of: "run"))/\(SupervisionProtocol.controlSocketName)" }

    /// The processes that the supervisor's process has started and not collected.
    var children: [Int32] {
        let identifier = process.identifier
        return (KernelFile.read("/proc/\(identifier)/task/\(identifier)/children") ?? "").split(separator: " ")
            .compactMap { Int32($0) }
    }

    /// The processes that bear the mark of this supervisor's applications, by application.
    var markedProcesses: [String: [Int32]] {
        let prefix = directory.path(of: "run") + " "
        var found: [String: [Int32]] = [:]
        for status in ProcessStatus.all where status.state != "Z" {
            guard let mark = ProcessStatus.environmentValue(of: SignalFreezer.markName, in: status.identifier),
                mark.hasPrefix(prefix)
            else { continue }
            found[String(mark.dropFirst(prefix.count).prefix { $0 != "@" }), default: []].append(status.identifier)
        }
        return found
    }

    /// The directory of the control groups; `nil` if signals are used.
    var controlGroup: String? { group }

    /// Sends a request that is expected to succeed.
    func perform(_ request: ControlRequest, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let answer = try self.request(request)
        // A program that was started, and has not connected, is one of which there is something to say.
        if case .launch = request, case .lines? = answer.first { return }
        #expect(answer == [.done], sourceLocation: sourceLocation)
    }

    func list(on connection: PacketSocket? = nil) throws -> [ApplicationStatus] {
        try request(.list, on: connection).flatMap { content -> [ApplicationStatus] in
            if case .applications(let applications) = content { applications } else { [] }
        }
    }

    func status(of identifier: String) throws -> ApplicationStatus? { try list().first { $0.identifier == identifier } }

    func lines(_ request: ControlRequest) throws -> [String] {
        try self.request(request).flatMap { content -> [String] in
            if case .lines(let lines) = content { lines } else { [] }
        }
    }

    /// Starts the probe as an application.
    func launch(_ identifier: String, _ arguments: [String] = [], inBackground: Bool = false) throws {
        try install(identifier, arguments)
        try perform(.launch(identifier: identifier, url: nil, inBackground: inBackground))
    }

    /// Starts the probe as an application, and waits until it is active.
    func launchInForeground(
        _ identifier: String,
        _ arguments: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try launch(identifier, arguments)
        await expectState(.active, of: identifier, sourceLocation: sourceLocation)
    }

    /// Sends an application to the background, and waits until it is suspended.
    func suspend(_ identifier: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try perform(.background(identifier: identifier), sourceLocation: sourceLocation)
        await expectState(.suspended, of: identifier, sourceLocation: sourceLocation)
    }

    /// Brings an application to the foreground, and waits until it is active.
    func resume(_ identifier: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try perform(.foreground(identifier: identifier), sourceLocation: sourceLocation)
        await expectState(.active, of: identifier, sourceLocation: sourceLocation)
    }

    /// Makes the probe the program of an application.
    func install(_ identifier: String, _ arguments: [String] = []) throws {
        var program = ProgramDescription(executable: Self.probe)
        program.arguments = ["supervised", "--name", identifier] + arguments
        program.environment = ["PATH=/usr/bin:/bin"]
        try perform(.install(identifier: identifier, program: program))
    }

    // MARK: Waiting

    /// Waits until the statuses meet a condition, for at most a minute.
    ///
    /// The condition is looked at when the supervisor reports a change, when there is output, and each second.
    @discardableResult
    func waitForStatuses(_ condition: ([ApplicationStatus]) -> Bool) async -> Bool {
        let end = SystemTime().uptime + .seconds(60)
        while SystemTime().uptime < end {
            outputEvent.clear()
            let change = try? PacketSocket.connect(to: controlSocket)
            // In this order, so that a change after the list is reported.
            _ = try? change?.send(WireWriter.encode(ControlRequest.awaitChange))
            if let change, let statuses = try? list(on: change), condition(statuses) { return true }
            await outputEvent.wait(orFor: change, atMost: .seconds(1))
        }
        return false
    }

    func expectState(
        _ state: LifecycleState,
        of identifier: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let isReached = await waitForStatuses { $0.first { $0.identifier == identifier }?.state == state }
        let found = try? status(of: identifier)?.state
        #expect(isReached, "\(identifier) is \(String(describing: found))", sourceLocation: sourceLocation)
    }

    /// Expects lines of the reasons or of the log of an application, which may follow an event.
    func expectLine(
        _ request: ControlRequest,
        sourceLocation: SourceLocation = #_sourceLocation,
        where condition: (String) -> Bool
    ) async {
        let isFound = await waitForStatuses { _ in (try? lines(request).contains(where: condition)) == true }
        let found = (try? lines(request)) ?? []
        #expect(isFound, "no such line in \(found)", sourceLocation: sourceLocation)
    }

    func expectOutput(_ text: String, times: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async {
        let isFound = await waitForStatuses { _ in output.ranges(of: text).count >= times }
        #expect(isFound, "\"\(text)\" is not in \(output)", sourceLocation: sourceLocation)
    }
}
